"""Which pages there are, by their path below docs/, and what renders each."""

from collections.abc import Callable, Mapping

from ops.reference import commands, errors, limits, settings
from receiver.store import reference as keys
from receiver.telemetry import reference as metrics

PAGES: Mapping[str, Callable[[], str]] = {
    "keys.md": keys.render,
    "reference/cli.md": commands.render,
    "reference/errors.md": errors.render,
    "reference/limits.md": limits.render,
    "reference/metrics.md": metrics.render,
    "reference/settings.md": settings.render,
}
