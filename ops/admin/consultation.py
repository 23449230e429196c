"""What ``receiver doctor`` would say, asked seldom enough that pages may show it."""

import asyncio
import time
from dataclasses import asdict
from typing import Any

from redis.exceptions import RedisError

from receiver.protocol.errors import Unavailable
from receiver.settings import Durability
from receiver.store.client import ATTEMPT_SECONDS, Client
from receiver.store.condition import describe
from receiver.store.diagnosis.examination import examine
from receiver.store.diagnosis.finding import Finding
from receiver.store.diagnosis.verdict import judge, judge_silence

FRESH_SECONDS = 10.0  # an examination is some twenty round trips


class Doctor:
    """Keeps the last findings for FRESH_SECONDS, for everyone who asks."""

    def __init__(self, client: Client, durability: Durability | None) -> None:
        self._client = client
        self._durability = durability
        self._asking = asyncio.Lock()
        self._found: list[Finding] = []
        self._asked_at = -FRESH_SECONDS

    async def consult(self) -> dict[str, Any]:
        """The findings as a JSON-able dict: errors first, then warnings."""
        async with self._asking:
            if time.monotonic() - self._asked_at >= FRESH_SECONDS:
                self._found = await self._examine()
                self._asked_at = time.monotonic()
        ordered = sorted(self._found, key=lambda finding: finding.severity)
        return {"findings": [asdict(finding) for finding in ordered]}

    async def _examine(self) -> list[Finding]:
        try:
            async with asyncio.timeout(2 * ATTEMPT_SECONDS):
                return judge(await examine(self._client, self._durability))
        except (RedisError, OSError, TimeoutError) as error:
            return [judge_silence(describe(error))]
        except Unavailable as error:
            cause = error.__cause__
            return [judge_silence(describe(cause if isinstance(cause, Exception) else error))]
