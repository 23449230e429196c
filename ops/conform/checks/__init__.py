"""The checks, one module a family.  ``ops.conform.check.load_checks`` finds all of them."""
