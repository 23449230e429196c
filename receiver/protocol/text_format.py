"""The formats that a text in a form may have: RFC 5321 for an email, RFC 3986 for a URI, RFC 3339 for dates."""

import re
from collections.abc import Callable, Mapping
from datetime import date
from types import MappingProxyType
from urllib.parse import urlsplit

_ATOM = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"
_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_EMAIL = re.compile(rf"(?=.{{3,254}}\Z)(?=[^@]{{1,64}}@){_ATOM}(?:\.{_ATOM})*@{_LABEL}(?:\.{_LABEL})*")
_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:(?:[A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})+")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_HOUR_MINUTE = r"(?:[01][0-9]|2[0-3]):[0-5][0-9]"
_TIME = re.compile(rf"[Tt]{_HOUR_MINUTE}:(?:[0-5][0-9]|60)(?:\.[0-9]+)?(?:[Zz]|[+-]{_HOUR_MINUTE})")
_DATE_LENGTH = 10


def is_email(text: str) -> bool:
    """Whether ``text`` is an address as people write it: without comments, quotes and address literals."""
    return _EMAIL.fullmatch(text) is not None


def is_uri(text: str) -> bool:
    """Whether ``text`` is a URI, with its scheme."""
    if _URI.fullmatch(text) is None:
        return False
    try:
        return urlsplit(text).port != -1  # both raise where host and port are none
    except ValueError:
        return False


def is_date(text: str) -> bool:
    """Whether ``text`` is a day of the calendar."""
    if _DATE.fullmatch(text) is None:
        return False
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def is_date_time(text: str) -> bool:
    """Whether ``text`` is a moment, with its offset; 60 is a second too."""
    return is_date(text[:_DATE_LENGTH]) and _TIME.fullmatch(text[_DATE_LENGTH:]) is not None


FORMATS: Mapping[str, Callable[[str], bool]] = MappingProxyType(
    {"date": is_date, "date-time": is_date_time, "email": is_email, "uri": is_uri}
)
