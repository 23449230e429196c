"""W3C Trace Context as text: as clients send it, as a record keeps it, and as an isolated run is told of it.

What is not exactly of that form is as if it were not there: no client gets an error, or a line in a log, out of it.
"""

import re

from opentelemetry.trace import INVALID_SPAN_CONTEXT, SpanContext, TraceFlags, TraceState

LONGEST = 512  # characters of a tracestate that have to be passed on; longer ones are dropped, and so is their parent's

_PARENT = re.compile(r"(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?")
_MEMBER = re.compile(
    r"([a-z][a-z0-9_*/-]{0,255}|[a-z0-9][a-z0-9_*/-]{0,240}@[a-z][a-z0-9_*/-]{0,13})"
    r"=([ -+\--<>-~]{0,255}[!-+\--<>-~])"
)
_SAMPLED = TraceFlags.SAMPLED  # the one flag that is known
_MEMBERS = 32


def read_trace(parent: object, state: object = None) -> SpanContext:
    """What ``traceparent`` and ``tracestate`` say; INVALID_SPAN_CONTEXT if that is nothing."""
    found = _PARENT.fullmatch(parent) if isinstance(parent, str) and len(parent) <= LONGEST else None
    if found is None or (found[1] == "00" and found[5]):  # a later version may have more to say
        return INVALID_SPAN_CONTEXT
    flags = TraceFlags(int(found[4], 16) & _SAMPLED)
    return SpanContext(int(found[2], 16), int(found[3], 16), True, flags, _read_state(state))


def write_trace(context: SpanContext) -> str:
    """``traceparent``, and behind a space ``tracestate`` if there is one; ``""`` for what is invalid."""
    if not context.is_valid:
        return ""
    parent = f"00-{context.trace_id:032x}-{context.span_id:016x}-{context.trace_flags & _SAMPLED:02x}"
    return f"{parent} {context.trace_state.to_header()}".rstrip()


def recall_trace(written: str) -> SpanContext:
    """What ``write_trace`` wrote."""
    parent, _, state = written.partition(" ")
    return read_trace(parent, state)


def _read_state(state: object) -> TraceState:
    if not isinstance(state, str) or len(state) > LONGEST:
        return TraceState()
    members = [member.strip(" \t") for member in state.split(",")]
    pairs = [(found[1], found[2]) for member in members if member and (found := _MEMBER.fullmatch(member))]
    is_whole = len(pairs) == len(list(filter(None, members))) and len(dict(pairs)) == len(pairs) <= _MEMBERS
    return TraceState(pairs) if is_whole else TraceState()
