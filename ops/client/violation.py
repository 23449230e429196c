"""What a server did that it must not do."""


class Violation(Exception):
    """The server breaks the rule.  The text is for its author: what was sent, what came, what the row asks."""
