"""The links that users are given to open."""

import ipaddress
from urllib.parse import urlsplit

from receiver.protocol.text_format import is_uri


def check_url(url: str) -> None:
    """Raises ValueError unless ``url`` can be given to a user to open: https, or http to this machine (E-02, E-07).

    No more can be seen from here: it must not hold personal data, nor open what only its reader may open.
    """
    if not is_uri(url):
        raise ValueError("the url of an elicitation must be a valid one")
    parts = urlsplit(url)
    if not parts.hostname or parts.scheme not in ("http", "https"):
        raise ValueError("the url of an elicitation must be one of https")
    if parts.scheme == "http" and not _is_loopback(parts.hostname):
        raise ValueError("the url of an elicitation must be one of https, unless it leads to this machine")
    if "@" in parts.netloc:
        raise ValueError("the url of an elicitation must not hold credentials")


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
