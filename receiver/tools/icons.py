"""Icons as authors give them."""

from collections.abc import Mapping, Sequence
from typing import Any

from mcp_types import Icon
from pydantic import ValidationError

Icons = Sequence[Icon | Mapping[str, Any]]

MEMBERS = {"src", "mimeType", "sizes", "theme"}


def written_icons(icons: Icons | None) -> list[dict[str, Any]] | None:
    """``icons`` by their wire names, or None for none.

    TypeError for a member that an icon does not have, and ValueError for one that is not valid: ``src`` is an http
    or https URL, or a data URI.
    """
    return [_write(icon) for icon in icons] if icons else None


def _write(icon: Icon | Mapping[str, Any]) -> dict[str, Any]:
    given = icon.model_dump(by_alias=True, exclude_none=True) if isinstance(icon, Icon) else dict(icon)
    if strange := sorted(given.keys() - MEMBERS):
        raise TypeError(f"an icon has no {strange[0]!r}; there are {', '.join(sorted(MEMBERS))}")
    try:
        written = Icon.model_validate(given).model_dump(by_alias=True, exclude_none=True)
    except ValidationError as error:
        fault = error.errors()[0]
        raise ValueError(f"icon: {'.'.join(map(str, fault['loc']))}: {fault['msg']}") from None
    if not written["src"].startswith(("https://", "http://", "data:")):
        raise ValueError(f"an icon's src is an http or https URL or a data URI, not {written['src'][:100]!r}")
    return written
