"""What Prometheus would have seen: pages of metrics, scraped from several processes, as series of a promtool test.

Rules think in minutes, and a test has seconds.  Scrapes are therefore taken fast and replayed slowly, as if each was an
``interval`` after the one before: values stay what they were, and rates are lower.
"""

import re
from collections.abc import Iterable, Iterator, Mapping

from prometheus_client.parser import text_string_to_metric_families

from tests.deploy.promtool import read_rules

NAME = re.compile(r"\b(?:mcp_tasks|mcp_server|redis)_[a-z_]+\b")


def name_metrics(expressions: Iterable[str]) -> set[str]:
    """The names of all series that occur in PromQL."""
    return {name for expression in expressions for name in NAME.findall(expression)}


class Recording:
    """Rounds of scrapes.  In each, a process told its metrics, or did not answer."""

    def __init__(self, names: Iterable[str] | None = None) -> None:
        rules = (rule["expr"] for rule in read_rules().values())
        self._names = set(name_metrics(rules) if names is None else names)
        self._rounds: list[dict[str, float]] = []

    def __len__(self) -> int:
        return len(self._rounds)

    def add(self, pages: Mapping[tuple[str, str], str]) -> None:
        """One more round: what each process told, by its job and its instance."""
        values: dict[str, float] = {}
        for (job, instance), page in pages.items():
            for family in text_string_to_metric_families(page):
                for sample in family.samples:
                    if sample.name in self._names:
                        labels = {**sample.labels, "instance": instance, "job": job}
                        values[write_series(sample.name, labels)] = sample.value
        self._rounds.append(values)

    def require(self, *names: str) -> None:
        """AssertionError unless each of these metrics was told: what is not there can't fire."""
        told = {series.partition("{")[0] for values in self._rounds for series in values}
        assert told.issuperset(names), f"{sorted(set(names) - told)} not among {sorted(told)}"

    def to_series(self) -> dict[str, str]:
        """Each series with its values, one a round, in promtool's notation."""
        names = sorted({series for values in self._rounds for series in values})
        return {series: " ".join(self._write_values(series)) for series in names}

    def _write_values(self, series: str) -> Iterator[str]:
        was_told = False
        for values in self._rounds:
            is_told = series in values
            # A series that is told no more is stale at once, as it is after a scrape that fails.
            yield f"{values[series]:.10g}" if is_told else "stale" if was_told else "_"
            was_told = is_told


def write_series(name: str, labels: Mapping[str, str]) -> str:
    """A series as PromQL writes it."""
    pairs = ",".join(f'{label}="{_escape(value)}"' for label, value in sorted(labels.items()))
    return f"{name}{{{pairs}}}"


def _escape(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
