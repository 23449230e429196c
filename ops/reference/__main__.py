"""``python -m ops.reference [FOLDER]`` writes the generated pages below FOLDER, ``docs`` by default."""

import sys
from pathlib import Path

from ops.reference.pages import PAGES


def main(folder: Path) -> None:
    """Writes all pages."""
    for name, render in PAGES.items():
        page = folder / name
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(render(), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "docs"))
