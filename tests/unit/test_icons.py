from typing import Any

import pytest
from mcp_types import Icon

from receiver.tools.icons import written_icons
from receiver.tools.tool import Tool

WRITTEN = {"src": "https://acme.example/i.png", "mimeType": "image/png", "sizes": ["48x48", "any"], "theme": "dark"}


def test_icons_have_their_wire_names() -> None:
    icon = Icon(src="https://acme.example/i.png", mime_type="image/png", sizes=["48x48", "any"], theme="dark")
    assert written_icons([icon, WRITTEN]) == [WRITTEN, WRITTEN]
    assert written_icons([{"src": "data:,x"}]) == [{"src": "data:,x"}]


@pytest.mark.parametrize("icons", [None, [], ()])
def test_no_icons_are_none(icons: Any) -> None:
    assert written_icons(icons) is None


@pytest.mark.parametrize(
    ("icon", "complaint"),
    [
        ({}, "icon: src: "),
        ({"src": 1}, "icon: src: "),
        ({"src": "https://a", "sizes": "48x48"}, "icon: sizes: "),
        ({"src": "https://a", "theme": "red"}, "icon: theme: "),
        ({"src": "https://a", "mime_type": "image/png"}, "an icon has no 'mime_type'"),
        ({"src": "icon.png"}, "an icon's src is an http or https URL or a data URI, not 'icon.png'"),
        ({"src": "file:///etc/passwd"}, "an icon's src is"),
    ],
)
def test_what_is_no_icon(icon: Any, complaint: str) -> None:
    with pytest.raises((TypeError, ValueError), match=complaint):
        written_icons([icon])


def test_a_tool_shows_its_icons() -> None:
    tool = Tool.of(lambda: None, context=type(None), name="x", icons=[WRITTEN])
    assert tool.definition()["icons"] == [WRITTEN]
    assert "icons" not in Tool.of(lambda: None, context=type(None), name="x").definition()
