"""Every knob of the server: a field here is the variable ``RECEIVER_<NAME>``."""

import difflib
import os
import re
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, SecretStr, ValidationError, model_validator
from pydantic_core import ErrorDetails
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from receiver.protocol.errors import StartupError


def _split(given: Any) -> Any:
    """The parts of a list that is written with commas."""
    return tuple(filter(None, map(str.strip, given.split(",")))) if isinstance(given, str) else given


def _shape(pattern: str, what: str) -> AfterValidator:
    """Refuses a string that ``pattern`` does not match as a whole: it is not ``what``."""

    def check(given: str) -> str:
        if re.fullmatch(pattern, given, re.ASCII) is None:
            raise ValueError(f"this is not {what}")
        return given

    return AfterValidator(check)


Milliseconds = Annotated[int, Field(gt=0)]
Seconds = Annotated[float, Field(gt=0)]
Count = Annotated[int, Field(gt=0)]
Rate = Annotated[str, Field(pattern=r"^(\d+/[1-9]\d*s)?$")]
Url = Annotated[str, _shape(r"(?i:https?)://[\w.:\[\]-]+(/[!$-;=@-\[\]-~]*)?", "a URL: https://host/path and no more")]
Scope = Annotated[str, _shape(r"[!#-\[\]-~]+", "a scope: visible ASCII, no quotes, no backslashes")]  # RFC 6749, 3.3
Token = Annotated[str, _shape(r"[!-+\--~]+", "a token: visible ASCII, no commas")]  # a header with one would hold two
LongToken = Annotated[str, _shape(r"[!-+\--~]{16,}", "a token of 16 characters or more: visible ASCII, no commas")]

AUDIT_EVENTS = 100_000  # events that the audit trail keeps

Durability = Literal["everysec", "always"]

# Lists: a variable has commas between its parts, an argument is a tuple or such a string.
Names = Annotated[tuple[str, ...], NoDecode, BeforeValidator(_split)]
Scopes = Annotated[tuple[Scope, ...], NoDecode, BeforeValidator(_split)]
Secrets = Annotated[tuple[SecretStr, ...], NoDecode, BeforeValidator(_split)]

OWNER_CLAIMS = ("iss", "client_id", "sub")  # as they are in a Principal


class StaticToken(BaseModel, extra="forbid"):
    """Whom a token of ``RECEIVER_AUTH_TOKENS`` stands for."""

    subject: Annotated[str, Field(min_length=1)]
    scopes: list[str] = []


class Settings(BaseSettings):
    """Read from ``RECEIVER_*`` variables; arguments win.  Durations are milliseconds unless the name says seconds."""

    model_config = SettingsConfigDict(env_prefix="RECEIVER_", extra="forbid", frozen=True)

    app: str | None = Field(None, description="The application, as module:attribute.")
    redis_url: SecretStr | None = Field(None, description="Redis to use; `receiver dev` starts one of its own without.")
    durability: Durability | None = Field(
        None,
        description="The least `appendfsync` that Redis must have: everysec or always; without, a warning at most.",
    )
    namespace: str = Field("mcp", pattern=r"^[A-Za-z0-9_.-]{1,64}$", description="The first word of every key.")
    data_dir: Path = Field(
        Path(".receiver"), description="Where the embedded server of `receiver dev` keeps its files."
    )
    lease_seconds: Annotated[float, Field(ge=1)] = Field(
        10, description="How long a silent worker keeps a task; renewed at a quarter of it."
    )
    default_ttl: Milliseconds = Field(3_600_000, description="The ttl of a task that asks for none.")
    min_ttl: Milliseconds = Field(1_000, description="The shortest ttl granted.")
    max_ttl: Milliseconds = Field(604_800_000, description="The longest ttl granted, and the answer to `ttl: null`.")
    poll_interval: Milliseconds = Field(1_000, description="The pollInterval that tasks suggest.")
    max_tasks_per_principal: Count = Field(1_000, description="Unfinished tasks and calls of one principal.")
    queue_limit: Count = Field(1_000_000, description="Waiting tasks of a queue, beyond which new ones are refused.")
    page_size: Annotated[int, Field(gt=0, le=1000)] = Field(50, description="Tasks on a page of tasks/list.")
    list_page_size: Count = Field(
        1_000, description="Tools, resources or prompts on a page; many clients read the first page only."
    )
    max_body_bytes: Count = Field(4_194_304, description="The longest request body.")
    receive_seconds: Seconds = Field(30, description="How long a request may take to arrive as a whole.")
    keep_alive_seconds: Seconds = Field(
        75, description="How long an idle connection is kept: longer than clients and proxies keep theirs."
    )
    max_result_bytes: Count = Field(4_194_304, description="The longest result of a tool; a longer one fails its task.")
    max_step_bytes: Count = Field(
        1_048_576, description="The longest result of one `ctx.step`; a longer one fails its task."
    )
    max_attempts: Count = Field(3, description="Attempts of a task whose tool says nothing else.")
    api_processes: Count = Field(
        1, description="Processes of `receiver serve` behind its port: one a core, each a node of its own."
    )
    worker_concurrency: Count = Field(10, description="Runs at the same time in one worker process.")
    park_after_seconds: Annotated[float, Field(ge=0)] = Field(
        30, description="How long a run of a tool with `replay=True` waits in memory before it is parked."
    )
    plain_reserved_slots: Annotated[int, Field(ge=0)] = Field(
        1, description="Slots of a worker that only plain calls may use."
    )
    stall_seconds: Seconds = Field(60, description="A worker whose event loop stands still this long ends itself.")
    shutdown_grace_seconds: Annotated[float, Field(ge=0)] = Field(
        25, description="How long a stopping worker lets its runs finish before it hands them back."
    )
    drain_seconds: Annotated[float, Field(ge=0)] = Field(
        0, description="How long a stopping API node still serves, with a red `/readyz`, before it closes its listener."
    )
    ready_without_workers: bool = Field(
        False, description="Keep `/readyz` green while no worker is alive: for workers that are scaled to zero."
    )
    redis_patience_seconds: Seconds = Field(5, description="How long a request is tried again while Redis is away.")
    session_idle_seconds: Annotated[float, Field(ge=1)] = Field(
        1800, description="How long a silent session lives; an open stream counts as activity."
    )
    max_sessions_per_principal: Count = Field(
        10_000, description="Sessions of one principal; beyond, the one that was silent longest ends."
    )
    max_subscriptions: Count = Field(100, description="Resources that one session may subscribe to.")
    max_streams_per_principal: Count = Field(
        1_000, description="Open streams of one principal on one node, blocked results among them."
    )
    rate_limit: Rate = Field(
        "1000/10s", description="Requests of one kind that a principal may make in so many seconds; empty = any number."
    )
    miss_limit: Rate = Field(
        "100/10s",
        description="Look-ups by a principal of tasks that don't exist, in so many seconds.",
    )
    auth_tokens: dict[Token, StaticToken] = Field(
        {}, repr=False, description='Static tokens, as JSON: `{"token": {"subject": "…", "scopes": ["…"]}}`.'
    )
    auth_issuer: Url | None = Field(None, description="Whose JWTs are taken: the `iss` claim, exactly.")
    auth_audience: Names = Field((), description="What their `aud` has to name; the resource_url without.")
    auth_jwks_url: Url | None = Field(None, description="The issuer's keys; found in its metadata without.")
    auth_scopes: Scopes = Field((), description="Scopes that every requestor needs.")
    owner_claims: Names = Field(OWNER_CLAIMS, min_length=1, description="The claims of a JWT that say whose a task is.")
    resource_url: Url | None = Field(None, description="The endpoint as clients see it; from the request without.")
    allow_anonymous: bool = Field(
        False, description="Serve a network without authentication: everyone has everyone's tasks."
    )
    allowed_hosts: Names = Field(
        (), description="Names in Host, with or without a port; `*` for all. Loopback names where it listens there."
    )
    allowed_origins: Names = Field(
        (), description="Origins of web pages that may ask, besides those on allowed hosts; `*` for all."
    )
    secrets: Secrets = Field((), description="Secrets that sign cursors: the first signs, all verify.")
    metrics_port: Annotated[int, Field(ge=1, le=65535)] | None = Field(
        None,
        description="The port of a worker's `/metrics`, and of the first of several API processes, the others have "
        "those that follow; not served without. One API process alone has it on its own port.",
    )
    console_tokens: dict[LongToken, Literal["viewer", "operator"]] = Field(
        {}, repr=False, description='Who may use the console, as JSON: `{"token": "viewer"}`, or `"operator"`.'
    )
    console_write: bool = Field(False, description="Let operators cancel, retry and purge; without, all is read-only.")
    trace_url: Url | None = Field(None, description="Where the console shows a trace: a URL with `{trace_id}` in it.")
    environment: str = Field("", max_length=32, description="What the console calls this deployment: `production`.")
    audit_events: Annotated[int, Field(ge=0)] = Field(
        AUDIT_EVENTS, description="Events that the audit trail keeps; 0 = no trail. The same for API and workers."
    )
    redact: str | None = Field(
        None, description="What decides which arguments and results operators are shown, as module:function."
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        "info", description="Which log lines are written; `debug` has one for each task created, read or completed."
    )
    log_format: Literal["auto", "json", "console"] = Field(
        "auto", description="How log lines look: `auto` is console on a terminal and JSON elsewhere."
    )

    def __init__(self, **values: Any) -> None:
        super().__init__(**values)  # all have defaults, which type checkers don't see in Field(...)

    @model_validator(mode="after")
    def _check_issuer(self) -> Self:
        """Half of a configuration is none, and must not end in a server that asks nobody who it is."""
        if self.auth_issuer is None and (self.auth_audience or self.auth_jwks_url):
            raise ValueError("set RECEIVER_AUTH_ISSUER too, or neither RECEIVER_AUTH_AUDIENCE nor _JWKS_URL")
        return self

    @property
    def lease_ms(self) -> int:
        """The lease in milliseconds."""
        return round(self.lease_seconds * 1000)

    def require_redis_url(self) -> str:
        """The Redis URL, or a StartupError that names the variable."""
        if self.redis_url is None:
            raise StartupError("no Redis given: set RECEIVER_REDIS_URL, or use `receiver dev`, which brings its own")
        return self.redis_url.get_secret_value()


def parse_rate(rate: str) -> tuple[int, int]:
    """The number of requests and the window in ms; (0, 1) for no limit."""
    if not rate:
        return 0, 1
    count, _, seconds = rate.partition("/")
    return int(count), int(seconds.removesuffix("s")) * 1000


def load_settings(**values: Any) -> Settings:
    """The settings of this process; a bad value is a StartupError of one line that names the variable."""
    try:
        return Settings(**values)
    except ValidationError as error:
        raise StartupError("bad settings: " + "; ".join(map(_describe, error.errors()))) from None
    except ValueError as error:  # a variable that should hold JSON and does not
        raise StartupError(f"bad settings: {error}") from None


def _describe(fault: ErrorDetails) -> str:
    """Which variable, and what is wrong with it.  Where in it is not said: that may be a token."""
    variable = "".join(f"RECEIVER_{name}: ".upper() for name in fault["loc"][:1])
    return variable + fault["msg"].removeprefix("Value error, ")


def unknown_variables() -> dict[str, str | None]:
    """The ``RECEIVER_*`` variables of this process that mean nothing, each with the nearest one that does."""
    known = [f"RECEIVER_{name.upper()}" for name in Settings.model_fields]
    unknown = [name for name in os.environ if name.startswith("RECEIVER_") and name not in known]
    return {name: next(iter(difflib.get_close_matches(name, known, n=1)), None) for name in unknown}
