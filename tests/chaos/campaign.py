"""One campaign: load and faults for a while, then quiet, a last look, and the judgement."""

import asyncio
import json
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path

from tests.chaos.checker import check
from tests.chaos.evidence import Evidence, Fault, History, Trace, read_stalls, read_traces
from tests.chaos.inventory import is_quiet, take_stock
from tests.chaos.load import PLAIN_SHARE, Load
from tests.chaos.nemesis import Nemesis, plan
from tests.chaos.requestor import Requestor
from tests.chaos.rig import TOKENS, Rig

LOOK_SECONDS = 0.2
LONGEST_STALL_SECONDS = 30.0
EXPECTED = (
    "timeout graceful shutdown exceeded",  # uvicorn's word for streams that a stopping node ends
    "StartupError",  # the store went away while a node started
    "Application startup failed",
)


@dataclass(frozen=True)
class Campaign:
    """What is to be done.  ``faults``, ``tools``, ``failpoints``: only these, all without.

    ``quiet_seconds``: patience at last.
    """

    seed: int = 1
    seconds: float = 60.0
    bug: str = ""
    server: str = "valkey"
    fsync: str = "always"
    lease: float = 2.0
    rate: float = 15.0
    cancels: float = 0.002
    faults: Sequence[str] = ()
    tools: Sequence[str] = ()
    plain: float = PLAIN_SHARE
    failpoints: Sequence[str] = ()
    pause: float = 1.2
    longest: float = 3.0
    quiet_seconds: float = 40.0


@dataclass(frozen=True)
class Report:
    """What came of it.  ``recovery``: the seconds from the death of a worker to the next run of each of its tasks."""

    campaign: Campaign
    folder: Path
    evidence: Evidence
    violations: list[str] = field(default_factory=list)
    recovery: list[float] = field(default_factory=list)

    def lines(self) -> list[str]:
        """The report, for people."""
        operations = Counter(f"{each.op} {each.outcome}" for each in self.evidence.operations)
        faults = Counter(" ".join(fault.kind.split()[:2]) for fault in self.evidence.faults)
        statuses = Counter(record["status"] for record in self.evidence.dump.records.values())
        starts = Counter(trace.task or trace.label for trace in self.evidence.traces if trace.event == "start")
        worst = f"{max(self.recovery):.1f} s of {len(self.recovery)}" if self.recovery else "none"
        return [
            f"seed {self.campaign.seed}, {self.campaign.seconds:g} s, {self.campaign.server}: {_show(statuses)}",
            f"  runs: {sum(starts.values())} of {len(starts)}, up to {max(starts.values(), default=0)} of one",
            f"  operations: {_show(operations)}",
            f"  faults: {sum(faults.values())} ({_show(faults)})",
            f"  worst recovery after the death of a worker: {worst} (lease {self.campaign.lease:g} s)",
            f"  history: {self.folder}",
            f"  violations: {len(self.violations)}",
            *(f"    {line}" for line in self.violations[:40]),
        ]


async def run(campaign: Campaign, folder: Path) -> Report:
    """Runs it, in ``folder``, which then holds the history, the ground truth and the logs."""
    history = History(folder / "history.jsonl")
    rig = Rig(folder, bug=campaign.bug, server=campaign.server, fsync=campaign.fsync, lease=campaign.lease)
    async with rig, AsyncExitStack() as stack:
        await rig.start()
        requestors = [Requestor(rig.urls, token, str(who["subject"]), history) for token, who in TOKENS.items()]
        for requestor in requestors:
            await requestor.begin()
            stack.push_async_callback(requestor.close)
        evidence = await _break(campaign, rig, requestors, history)
        logs = rig.logs()
    history.close()
    found = _places_of_tokens(folder / "store") + ["the logs"] * _has_token(logs)
    evidence = replace(evidence, secrets_found=tuple(found), log_errors=tuple(_errors_in(logs)))
    return Report(campaign, folder, evidence, check(evidence), _recoveries(evidence))


async def _break(campaign: Campaign, rig: Rig, requestors: list[Requestor], history: History) -> Evidence:
    load = Load(
        requestors,
        campaign.seed,
        rate=campaign.rate,
        cancels=campaign.cancels,
        only=campaign.tools,
        longest=campaign.longest,
        plain=campaign.plain,
    )
    nemesis = Nemesis(rig, history)
    watching = [asyncio.create_task(nemesis.watch_machine()), asyncio.create_task(nemesis.watch_store())]
    load.start()
    steps = plan(
        campaign.seed,
        campaign.seconds,
        campaign.lease,
        only=campaign.faults,
        pause=campaign.pause,
        failpoints=campaign.failpoints,
    )
    begun = time.monotonic()
    await nemesis.run(steps)
    await asyncio.sleep(max(0.0, begun + campaign.seconds - time.monotonic()))
    await rig.heal()
    await load.stop_creating()
    await load.finish(_Patience(history, campaign.quiet_seconds).is_over)
    patience = _Patience(history, campaign.quiet_seconds)
    while not await is_quiet(rig.redis) and not patience.is_over():  # noqa: ASYNC110 - other processes
        await asyncio.sleep(LOOK_SECONDS)
    await load.read_all()
    dump = await take_stock(rig.redis)
    for watcher in watching:
        watcher.cancel()
    traces = read_traces(rig.folder / "truth.jsonl")
    faults = (*history.faults, *read_stalls(rig.folder / "stalls.jsonl"))
    return Evidence(tuple(history.operations), faults, traces, dump, campaign.lease)


class _Patience:
    """Lasts for so many ``seconds``, on a machine that gives the campaign time; one that does not gets some more."""

    def __init__(self, history: History, seconds: float) -> None:
        self._history = history
        self._seconds = seconds
        self._begun = time.time()

    def is_over(self) -> bool:
        """Whether the time is up."""
        stalls = [fault.ended for fault in self._history.faults if fault.kind == "stall"]
        held_up = min(max([self._begun, *stalls]) - self._begun, LONGEST_STALL_SECONDS)
        return time.time() > self._begun + held_up + self._seconds


def _places_of_tokens(folder: Path) -> list[str]:
    """The files of the store in which a token stands."""
    files = [file for file in folder.rglob("*") if file.is_file()]
    return [file.name for file in files if any(token.encode() in file.read_bytes() for token in TOKENS)]


def _has_token(text: str) -> bool:
    return any(token in text for token in TOKENS)


def _errors_in(logs: str) -> Iterator[str]:
    """What processes complain of that should not happen, whatever else does."""
    for line in logs.splitlines():
        is_error = line.startswith("{") and _level(line) in ("error", "critical")
        if (is_error or line.startswith("Traceback")) and not any(text in line for text in EXPECTED):
            yield line


def _level(line: str) -> str:
    try:
        return str(json.loads(line).get("level"))
    except ValueError:
        return ""  # half a line, of a process that was killed


def _recoveries(evidence: Evidence) -> list[float]:
    """For every run that ended with its worker: how long until the next one began."""
    ended = {trace.nonce for trace in evidence.traces if trace.event != "start"}
    starts = [trace for trace in evidence.traces if trace.event == "start"]
    found = []
    for trace in starts:
        later = [each.at for each in starts if each.task == trace.task and each.run > trace.run]
        death = _death_of(trace, evidence.faults)
        if trace.nonce not in ended and later and death is not None:
            found.append(min(later) - death)
    return found


def _death_of(trace: Trace, faults: Sequence[Fault]) -> float | None:
    kills = ("kill worker", "failpoint worker")
    deaths = [fault.begun for fault in faults if fault.pid == trace.pid and fault.kind.startswith(kills)]
    return min(deaths, default=None)


def _show(counts: Counter[str]) -> str:
    return ", ".join(f"{count} {name}" for name, count in sorted(counts.items()))
