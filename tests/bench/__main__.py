"""``python -m tests.bench``: this server and the floor under the same load, in one run."""

import argparse
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

from tests.bench.comparing import Figures, compare
from tests.bench.subject import run_floor, run_receiver


def main() -> int:
    """Measures, and prints."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("--seconds", type=float, default=3.0, help="of each round")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--requestors", type=int, nargs="*", default=[1, 16, 64])
    parser.add_argument("load", nargs="*", default=["create", "get", "run"])
    given = parser.parse_args()
    for load in given.load:
        with tempfile.TemporaryDirectory() as path, ExitStack() as stack:
            floor = stack.enter_context(run_floor(Path(path)))
            receiver = stack.enter_context(run_receiver(Path(path), workers=int(load == "run")))
            for count in given.requestors:
                found = compare([floor, receiver], load, requestors=count, seconds=given.seconds, rounds=given.rounds)
                for name, figures in found.items():
                    print(f"{load} at {count}: {name} {_show(figures)}", flush=True)
                print(f"  {found['receiver'].rate / found['floor'].rate:.2f} of the floor", flush=True)
    return 0


def _show(of: Figures) -> str:
    least, most = of.spread
    parts = [
        f"{of.rate:.0f}/s ({least:.0f}-{most:.0f})",
        f"p50 {of.latency(0.5):.2f} p99 {of.latency(0.99):.2f} ms",
        f"cpu {' '.join(f'{role} {of.cpu_of(role):.0f}' for role in of.cpu[0])} us",
        f"commands {of.commands[-1]:.1f} flights {of.flights[-1]:.1f}",
    ]
    return ", ".join(parts)


if __name__ == "__main__":
    sys.exit(main())
