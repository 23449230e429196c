"""What a page of metrics says, and what moved between two of them."""

from collections.abc import Iterable, Mapping
from typing import Any

from prometheus_client.metrics_core import Metric
from prometheus_client.parser import text_string_to_metric_families

Key = tuple[str, frozenset[tuple[str, str]]]


class Samples:
    """The samples of a page, or of a registry."""

    def __init__(self, metrics: Iterable[Metric]) -> None:
        self.families = {metric.name: metric for metric in metrics}
        samples = [sample for metric in self.families.values() for sample in metric.samples]
        self._values: Mapping[Key, float] = {_key(sample.name, sample.labels): sample.value for sample in samples}

    @classmethod
    def read(cls, page: str) -> "Samples":
        """The samples of a page."""
        return cls(text_string_to_metric_families(page))

    def get(self, name: str, /, **labels: str) -> float | None:
        """The value of one series; a label ``from`` is given as ``from_``."""
        return self._values.get(_key(name, {label.rstrip("_"): value for label, value in labels.items()}))

    def since(self, before: "Samples", name: str, /, **labels: str) -> float:
        """How much a series rose."""
        return (self.get(name, **labels) or 0) - (before.get(name, **labels) or 0)

    def labels(self, label: str) -> set[str]:
        """All values of a label, in any metric."""
        return {value for _, labels in self._values for name, value in labels if name == label}


def _key(name: str, labels: Mapping[str, Any]) -> Key:
    return name, frozenset(labels.items())
