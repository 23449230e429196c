"""``receiver bench``, behind its options."""

import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import uvloop

from ops.bench.choice import choose
from ops.bench.load import LOADS
from ops.bench.report import Report, print_report
from ops.bench.requestor import Target
from ops.bench.trial import Trial, run_trial
from ops.render import print_json
from receiver.protocol.errors import StartupError

CLEAR_LINE = "\r\x1b[K"


@dataclass(frozen=True)
class Options:
    """As on the command line: ``arguments`` are JSON, ``requestors`` numbers with commas, ``ttl`` is in ms."""

    url: str
    token: str
    tool: str
    arguments: str
    requestors: str
    seconds: float
    loads: Sequence[str]
    ttl: int
    json: bool


def run_bench(options: Options) -> int:
    """Measures a server and prints what it found; the exit code: 1 if anything went wrong meanwhile.

    Raises StartupError if it can't be measured.
    """
    loads, numbers = _read_loads(options.loads), _read_numbers(options.requestors)
    if options.ttl <= options.seconds * 1000:
        raise StartupError("--ttl, in milliseconds, has to be longer than --seconds: a load asks for the task it made")
    target = Target(options.url, options.tool, _read_arguments(options.arguments), options.token, options.ttl)
    report = uvloop.run(_run(target, [(load, number) for load in loads for number in numbers], options.seconds))
    if options.json:
        print_json(report.to_json())
    else:
        print_report(report)
    return int(any(trial.errors for trial in report.trials))


async def _run(target: Target, plan: Sequence[tuple[str, int]], seconds: float) -> Report:
    choice = await choose(target, target.tool)
    target = replace(target, tool=choice.tool)
    trials: list[Trial] = []
    for number, (load, requestors) in enumerate(plan, 1):
        _tell(f"{number} of {len(plan)}: {load}, {requestors} at a time")
        try:
            trial = await run_trial(target, load, requestors, seconds, settles=number < len(plan))
        except StartupError as error:  # no session can be had any more; what was measured before is not lost
            trial = Trial(load, requestors)
            trial.note(error)
        finally:
            _tell("")
        trials.append(trial)
    return Report(target, choice.server, seconds, trials)


def _tell(text: str) -> None:
    """What is done just now, for who looks on."""
    if sys.stderr.isatty():
        print(f"{CLEAR_LINE}{text}", end="", file=sys.stderr, flush=True)


def _read_loads(loads: Sequence[str]) -> list[str]:
    if bad := [load for load in loads if load not in LOADS]:
        raise StartupError(f"--load takes {', '.join(LOADS)}; not {bad[0]!r}")
    return list(dict.fromkeys(loads)) or list(LOADS)


def _read_numbers(text: str) -> list[int]:
    def read() -> Iterator[int]:
        for word in text.split(","):
            if not word.strip().isdecimal() or not int(word):
                raise StartupError(f"--requestors takes numbers, with commas; not {word!r}")
            yield int(word)

    return list(read())


def _read_arguments(text: str) -> dict[str, Any]:
    try:
        arguments = json.loads(text)
    except ValueError as error:
        raise StartupError(f"--arguments is no JSON: {error}") from None
    if not isinstance(arguments, dict):
        raise StartupError("--arguments takes a JSON object")
    return arguments
