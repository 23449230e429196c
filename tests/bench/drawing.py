"""Draws what growth costs: for each operation the CPU that it takes, over the tasks that are stored.

Needs the dependency group ``bench``.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

GREY = "#808080"  # on white and on black alike
COLORS = {"api": "#3b82c4", "worker": "#d97a1c", "redis": "#3a9d5d"}
NAMES = {"api": "API", "worker": "worker", "redis": "Redis"}
SETTINGS: dict[Any, Any] = {  # its type lists all names, where matplotlib is installed
    "svg.fonttype": "none",  # text stays text
    "svg.hashsalt": "growth",  # the same figures give the same file
    "font.family": "sans-serif",
    "font.size": 9,
    "text.color": GREY,
    "axes.edgecolor": GREY,
    "axes.labelcolor": GREY,
    "axes.titlecolor": GREY,
    "axes.titlesize": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.color": GREY,
    "ytick.color": GREY,
    "lines.linewidth": 1.8,
    "lines.markersize": 3.5,
}
SIZE = (11.0, 4.6)  # inches


def draw(stages: Sequence[Mapping[str, Any]], path: Path) -> None:
    """``stages`` are those of ``growth.json``: above CPU in microseconds by process, below latency in ms."""
    import matplotlib  # here, since only who draws needs it
    from matplotlib.figure import Figure
    from matplotlib.ticker import NullLocator

    names = list(stages[0]["costs"])
    tasks = [stage["tasks"] for stage in stages]
    with matplotlib.rc_context(SETTINGS):
        figure = Figure(figsize=SIZE, layout="constrained")
        axes = figure.subplots(2, len(names), sharex=True, sharey="row", height_ratios=(2, 1))
        for column, name in enumerate(names):
            costs = [stage["costs"][name] for stage in stages]
            upper, lower = axes[0][column], axes[1][column]
            for role, color in COLORS.items():
                upper.plot(tasks, [cost["cpu"][role] for cost in costs], marker="o", color=color, label=NAMES[role])
            lower.plot(tasks, [cost["latency"] for cost in costs], marker="o", color=GREY)
            upper.set_title(name)
            lower.set_xscale("log")
            lower.xaxis.set_major_formatter(_short)
            lower.xaxis.set_minor_locator(NullLocator())
        for row, label in zip(axes, ("CPU, µs an operation", "median latency, ms"), strict=True):
            row[0].set_ylabel(label)
            row[0].set_ylim(bottom=0)
        figure.supxlabel("stored tasks, and with them principals and open streams", fontsize=9)
        figure.legend(*axes[0][0].get_legend_handles_labels(), loc="outside upper right", ncols=3, frameon=False)
        figure.savefig(path, format="svg", transparent=True, metadata={"Date": None})


def _short(tasks: float, _: object) -> str:
    """A size in few letters."""
    return f"{tasks / 1_000_000:g}M" if tasks >= 1_000_000 else f"{tasks / 1_000:g}k"
