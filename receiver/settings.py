"""Every knob of the server: a field here is the variable ``RECEIVER_<NAME>``."""

import difflib
import os
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from receiver.protocol.errors import StartupError

Milliseconds = Annotated[int, Field(gt=0)]
Seconds = Annotated[float, Field(gt=0)]
Count = Annotated[int, Field(gt=0)]


class StaticToken(BaseModel, extra="forbid"):
    """Whom a token of ``RECEIVER_AUTH_TOKENS`` stands for."""

    subject: Annotated[str, Field(min_length=1)]
    scopes: list[str] = []


class Settings(BaseSettings):
    """Read from ``RECEIVER_*`` variables; arguments win.  Durations are milliseconds unless the name says seconds."""

    model_config = SettingsConfigDict(env_prefix="RECEIVER_", extra="forbid", frozen=True)

    app: str | None = Field(None, description="The application, as module:attribute.")
    redis_url: SecretStr | None = Field(None, description="Redis to use; `receiver dev` starts one of its own without.")
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
    max_body_bytes: Count = Field(4_194_304, description="The longest request body.")
    max_result_bytes: Count = Field(4_194_304, description="The longest result of a tool; a longer one fails its task.")
    max_attempts: Count = Field(3, description="Attempts of a task whose tool says nothing else.")
    worker_concurrency: Count = Field(10, description="Runs at the same time in one worker process.")
    plain_reserved_slots: Annotated[int, Field(ge=0)] = Field(
        1, description="Slots of a worker that only plain calls may use."
    )
    stall_seconds: Seconds = Field(60, description="A worker whose event loop stands still this long ends itself.")
    shutdown_grace_seconds: Annotated[float, Field(ge=0)] = Field(
        25, description="How long a stopping worker lets its runs finish before it hands them back."
    )
    redis_patience_seconds: Seconds = Field(5, description="How long a request is tried again while Redis is away.")
    auth_tokens: dict[str, StaticToken] = Field(
        {}, repr=False, description='Static tokens, as JSON: `{"token": {"subject": "…", "scopes": ["…"]}}`.'
    )
    secrets: Annotated[tuple[SecretStr, ...], NoDecode] = Field(
        (), description="Secrets that sign cursors, separated by commas: the first signs, all verify."
    )
    log_format: Literal["auto", "json", "console"] = Field(
        "auto", description="How log lines look: `auto` is console on a terminal and JSON elsewhere."
    )

    def __init__(self, **values: Any) -> None:
        if isinstance(text := values.get("secrets", os.environ.get("RECEIVER_SECRETS")), str):
            values["secrets"] = tuple(part.strip() for part in text.split(",") if part.strip())
        super().__init__(**values)

    @property
    def lease_ms(self) -> int:
        """The lease in milliseconds."""
        return round(self.lease_seconds * 1000)

    def require_redis_url(self) -> str:
        """The Redis URL, or a StartupError that names the variable."""
        if self.redis_url is None:
            raise StartupError("no Redis given: set RECEIVER_REDIS_URL, or use `receiver dev`, which brings its own")
        return self.redis_url.get_secret_value()


def load_settings(**values: Any) -> Settings:
    """The settings of this process; a bad value is a StartupError of one line that names the variable."""
    try:
        return Settings(**values)
    except ValidationError as error:
        faults = (f"RECEIVER_{'.'.join(map(str, fault['loc'])).upper()}: {fault['msg']}" for fault in error.errors())
        raise StartupError("bad settings: " + "; ".join(faults)) from None
    except ValueError as error:  # a variable that should hold JSON and does not
        raise StartupError(f"bad settings: {error}") from None


def unknown_variables() -> dict[str, str | None]:
    """The ``RECEIVER_*`` variables of this process that mean nothing, each with the nearest one that does."""
    known = [f"RECEIVER_{name.upper()}" for name in Settings.model_fields]
    unknown = [name for name in os.environ if name.startswith("RECEIVER_") and name not in known]
    return {name: next(iter(difflib.get_close_matches(name, known, n=1)), None) for name in unknown}
