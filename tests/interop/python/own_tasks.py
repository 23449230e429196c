"""The tasks by which a client of the Python SDK answers: its experimental task handlers, and the user behind them."""

import asyncio
from typing import Any, Literal

from mcp.client.experimental.task_handlers import ExperimentalTaskHandlers
from mcp.shared.experimental.tasks.in_memory_task_store import InMemoryTaskStore
from mcp.types import (
    INVALID_PARAMS,
    CancelTaskRequestParams,
    CancelTaskResult,
    CreateMessageRequestParams,
    CreateMessageResult,
    CreateTaskResult,
    ElicitRequestParams,
    ElicitResult,
    ErrorData,
    GetTaskPayloadRequestParams,
    GetTaskPayloadResult,
    GetTaskRequestParams,
    GetTaskResult,
    Result,
    TaskMetadata,
    TextContent,
)

Mood = Literal["answers", "hesitates", "waits for the requestor", "cancels", "fails"]

FORM = ElicitResult(action="accept", content={"city": "Oslo", "nights": 3})
RHYME = CreateMessageResult(role="assistant", model="poet", content=TextContent(type="text", text="tea"))


class OwnTasks:
    """What is asked as a task, and what becomes of it at the first look at it, as ``mood`` has it.

    Whoever ``hesitates`` answers at no look at all; who ``waits for the requestor`` answers its tasks/result alone.
    """

    def __init__(self) -> None:
        self.mood: Mood = "answers"
        self._store = InMemoryTaskStore()
        self._results: dict[str, Result] = {}
        self._log: list[dict[str, Any]] = []
        self._news = asyncio.Event()

    def handlers(self) -> ExperimentalTaskHandlers:
        """What a session is given."""
        return ExperimentalTaskHandlers(
            get_task=self._get_task,
            get_task_result=self._get_result,
            cancel_task=self._cancel,
            augmented_sampling=self._write,
            augmented_elicitation=self._fill_in,
        )

    async def has_heard(self, method: str) -> None:
        """Returns when the server sent this."""
        while all(entry["method"] != method for entry in self._log):
            self._news.clear()
            await self._news.wait()

    def take_log(self) -> list[dict[str, Any]]:
        """What the server sent since the last time."""
        log, self._log = self._log, []
        return log

    def _hear(self, method: str, params: Any) -> None:
        self._log.append({"method": method, "params": params})
        self._news.set()

    async def _fill_in(
        self, context: object, params: ElicitRequestParams, task_metadata: TaskMetadata
    ) -> CreateTaskResult:
        self._hear("elicitation/create", params)
        return await self._accept(task_metadata, FORM)

    async def _write(
        self, context: object, params: CreateMessageRequestParams, task_metadata: TaskMetadata
    ) -> CreateTaskResult:
        self._hear("sampling/createMessage", params)
        return await self._accept(task_metadata, RHYME)

    async def _accept(self, metadata: TaskMetadata, result: Result) -> CreateTaskResult:
        task = await self._store.create_task(metadata)
        self._results[task.taskId] = result
        return CreateTaskResult(task=task)

    async def _get_task(self, context: object, params: GetTaskRequestParams) -> GetTaskResult | ErrorData:
        self._hear("tasks/get", params)
        task = await self._store.get_task(params.taskId)
        if task is None:
            return ErrorData(code=INVALID_PARAMS, message="Task not found")
        told = GetTaskResult(**task.model_dump())
        await self._go_on(params.taskId)
        return told

    async def _go_on(self, task_id: str) -> None:
        if self.mood == "answers":
            await self._store.store_result(task_id, self._results[task_id])
            await self._store.update_task(task_id, "completed")
        elif self.mood == "waits for the requestor":
            await self._store.update_task(task_id, "input_required")
        elif self.mood in ("cancels", "fails"):
            await self._store.update_task(task_id, "cancelled" if self.mood == "cancels" else "failed", "Not today")

    async def _get_result(
        self, context: object, params: GetTaskPayloadRequestParams
    ) -> GetTaskPayloadResult | ErrorData:
        self._hear("tasks/result", params)
        if self.mood == "fails":
            return ErrorData(code=INVALID_PARAMS, message="Nobody is here")
        return GetTaskPayloadResult.model_validate(self._results[params.taskId].model_dump(by_alias=True))

    async def _cancel(self, context: object, params: CancelTaskRequestParams) -> CancelTaskResult:
        self._hear("tasks/cancel", params)
        return CancelTaskResult(**(await self._store.update_task(params.taskId, "cancelled")).model_dump())
