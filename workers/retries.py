"""When a run is run again whose tool raised ``Retry`` without saying when."""

import random

FIRST_SECONDS = 1.0
LONGEST_SECONDS = 300.0
_DOUBLINGS = 20  # more change nothing


def pause_after(attempt: int) -> float:
    """Seconds after the ``attempt``-th attempt: any number up to 1 s, twice as much after each further one, to 5 min.

    From zero on, so that what failed together does not come back together.
    """
    longest = min(FIRST_SECONDS * 2.0 ** min(attempt - 1, _DOUBLINGS), LONGEST_SECONDS)
    return random.uniform(0, longest)  # noqa: S311 - not a secret
