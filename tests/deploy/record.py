"""``python -m tests.deploy.record FOLDER``: makes each situation, and leaves promtool's tests of them in FOLDER."""

import asyncio
import shutil
import sys
from pathlib import Path

from tests.deploy.promtool import run_promtool
from tests.deploy.situations import EXPORTER, SITUATIONS, record_situation


def main(folder: Path) -> None:
    """Records all situations, and has promtool judge them."""
    exporter = shutil.which(EXPORTER)
    if exporter is None:
        sys.exit(f"{EXPORTER} is not on PATH (it is a Debian package)")
    for alert in SITUATIONS:
        place = folder / alert
        place.mkdir(parents=True)
        file = asyncio.run(record_situation(place, alert, exporter))
        run_promtool("test", "rules", file)
        print(f"{alert}: {file}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
