"""The pages of docs/ that are made from code: ``python -m ops.reference``, or ``make docs``."""
