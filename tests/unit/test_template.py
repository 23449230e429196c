import pytest

from receiver.resources.template import UriTemplate


@pytest.mark.parametrize(
    ("template", "uri", "parameters"),
    [
        ("notes://all", "notes://all", {}),
        ("notes://all", "notes://all/", None),
        ("notes://all", "Notes://all", None),
        ("notes://a.b?c", "notes://a.b?c", {}),
        ("notes://a.b?c", "notes://axbc", None),
        ("notes://{name}", "notes://a", {"name": "a"}),
        ("notes://{name}", "notes://", None),
        ("notes://{name}", "notes://a/b", None),
        ("notes://{name}", "notes://a?b", None),
        ("notes://{name}", "notes://a#b", None),
        ("notes://{name}", "notes://a%2Fb", {"name": "a/b"}),
        ("notes://{name}", "notes://%C3%A9+%20", {"name": "é+ "}),
        ("notes://{name}", "notes://é", {"name": "é"}),
        ("notes://{name}", "notes://%FF", None),
        ("notes://{name}", "notes://a b", None),
        ("notes://{name}", "notes://a\n", None),
        ("notes://{name}", "notes://{name}", None),
        ("notes://{name}.txt", "notes://a.txt.txt", {"name": "a.txt"}),
        ("notes://{name}.txt", "notes://.txt", None),
        ("notes://{a}/{b}", "notes://1/2", {"a": "1", "b": "2"}),
        ("notes://{a}/{b}", "notes://1/2/3", None),
        ("notes://{a}-{b}", "notes://1-2-3", {"a": "1", "b": "2-3"}),
        ("notes://{a}/of/{b}/end", "notes://1/of/2/end", {"a": "1", "b": "2"}),
        ("file:///{+path}", "file:///a/b%20c?d#e", {"path": "a/b c?d#e"}),
        ("file:///{+path}", "file:///", None),
        ("file:///{+path}/{name}.txt", "file:///a/b.txt", {"path": "a", "name": "b"}),
        ("notes://{b}/{a}", "notes://1/2", {"b": "1", "a": "2"}),
    ],
)
def test_a_uri_leads_back_to_its_parameters(template: str, uri: str, parameters: object) -> None:
    assert UriTemplate.of(template).match(uri) == parameters


def test_the_order_is_that_of_the_template() -> None:
    assert UriTemplate.of("notes://{b}/{a}").names == ("b", "a")


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "scheme"),
        ("notes", "scheme"),
        ("/notes", "scheme"),
        ("9notes://a", "scheme"),
        ("{scheme}://a", "scheme"),
        ("notes:", "scheme"),
        ("notes://" + "a" * 2000, "2000 characters"),
        ("notes://a b", "no spaces"),
        ("notes://é", "no spaces"),
        ("notes://{?a}", "no spaces"),
        ("notes://{a,b}", "no spaces"),
        ("notes://{a:3}", "no spaces"),
        ("notes://{a*}", "no spaces"),
        ("notes://{a", "no spaces"),
        ("notes://a}", "no spaces"),
        ("notes://{}", "no spaces"),
        ("notes://{a}/{a}", "once"),
        ("notes://{a}{b}", "between"),
    ],
)
def test_what_is_no_template(text: str, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        UriTemplate.of(text)


@pytest.mark.timeout(5)
def test_a_long_uri_is_soon_refused() -> None:
    """It would take years if every way to split it were tried."""
    template = UriTemplate.of("notes://{a}-{b}-{c}-{+d}-{+e}.txt")
    assert template.match("notes://" + "-" * 100_000) is None
    assert template.match("notes://" + "a-" * 100_000) is None
