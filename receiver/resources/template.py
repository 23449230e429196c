"""URI templates, as far as they lead back from a URI to its parameters (RFC 6570, level 1 and ``{+name}``)."""

import re
from dataclasses import dataclass
from urllib.parse import unquote

LENGTH_LIMIT = 2000
LITERAL = re.compile(r"[A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=%-]*", re.ASCII)  # RFC 3986
SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:.", re.ASCII)
EXPRESSION = re.compile(r"\{(\+?)([A-Za-z_][A-Za-z0-9_]*)\}", re.ASCII)
PART, REST = r"[^\x00-\x20\x7f{}/?#]", r"[^\x00-\x20\x7f{}]"  # clients write other alphabets as they are, too


@dataclass(frozen=True, eq=False, slots=True)
class UriTemplate:
    """``names`` are its parameters, in order; none, and it is the URI of one resource.

    ``{name}`` stands for what has no slash, ``?`` or ``#``, before it is decoded; ``{+name}`` may have them.  Neither
    stands for nothing at all.
    """

    text: str
    names: tuple[str, ...]
    pattern: re.Pattern[str]

    @classmethod
    def of(cls, text: str) -> "UriTemplate":
        """The template that ``text`` writes; ValueError for what is none."""
        if not SCHEME.match(text) or len(text) > LENGTH_LIMIT:
            raise ValueError(f"a URI has a scheme, as in notes://all, and up to {LENGTH_LIMIT} characters")
        first, *rest = EXPRESSION.split(text)
        literals = [first, *rest[2::3]]
        names = tuple(rest[1::3])
        if not all(map(LITERAL.fullmatch, literals)):
            raise ValueError("a URI has no spaces or characters of other alphabets, and a template {name} or {+name}")
        if len(set(names)) < len(names) or not all(literals[1:-1]):
            raise ValueError("a template has each parameter once, and something between two of them")
        return cls(text, names, _pattern_of(literals, [REST if plus else PART for plus in rest[::3]]))

    def match(self, uri: str) -> dict[str, str] | None:
        """The parameters of ``uri``, percent-decoded, or None if it is not one of this template's."""
        found = self.pattern.fullmatch(uri)
        if found is None:
            return None
        try:
            values = [unquote(value, errors="strict") for value in found.groups()]
        except UnicodeDecodeError:
            return None
        return dict(zip(self.names, values, strict=True))


def _pattern_of(literals: list[str], classes: list[str]) -> re.Pattern[str]:
    """A parameter ends where the literal behind it begins first, and the last one at the end of the URI.

    So no parameter is tried twice: how long a match takes grows with the length of the URI, and no faster.
    """
    parts = [re.escape(literals[0])]
    for one, literal in zip(classes[:-1], literals[1:-1], strict=True):
        parts.append(f"(?>({one}+?){re.escape(literal)})")
    parts += [f"({classes[-1]}+){re.escape(literals[-1])}"] if classes else []
    return re.compile("".join(parts))
