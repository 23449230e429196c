"""What tools ask the client of the Python SDK, ``mcp`` 1.30.0, whose requests go to two nodes by turns."""

import asyncio
import logging
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from mcp import ClientSession
from mcp.types import (
    INVALID_REQUEST,
    CallToolResult,
    CreateMessageRequestParams,
    CreateMessageResult,
    ElicitRequestFormParams,
    ElicitResult,
    ErrorData,
    TextContent,
)

from tests.acceptance.deployment import PATIENCE_SECONDS, TOKENS, Deployment
from tests.interop.alternating import open_client

ALICE, _ = TOKENS
RELATED_TASK = "io.modelcontextprotocol/related-task"
BOOKED = {"action": "accept", "trip": {"city": "Oslo", "nights": 3}}

pytestmark = [
    pytest.mark.asyncio(loop_scope="module"),
    # The package says so wherever tasks are used; it is the client that people have.
    pytest.mark.filterwarnings("ignore:The experimental tasks API is deprecated:DeprecationWarning"),
]


class User:
    """Who sits at a client: fills in forms, and stands in for its model.

    ``hold`` lets it think until ``go_on``; the client takes in nothing else meanwhile.
    """

    def __init__(self) -> None:
        self.elicited: list[ElicitRequestFormParams] = []
        self.sampled: list[CreateMessageRequestParams] = []
        self.answer: ElicitResult | ErrorData = ElicitResult(action="accept", content={"city": "Oslo", "nights": 3})
        self._decided = asyncio.Event()
        self._decided.set()

    def hold(self) -> None:
        """Does not answer before ``go_on``."""
        self._decided.clear()

    def go_on(self) -> None:
        """Answers."""
        self._decided.set()

    async def fill_in(self, _: object, params: Any) -> ElicitResult | ErrorData:
        """The callback for elicitation."""
        self.elicited.append(params)
        await self._decided.wait()
        return self.answer

    async def write(self, _: object, params: CreateMessageRequestParams) -> CreateMessageResult:
        """The callback for sampling."""
        self.sampled.append(params)
        await self._decided.wait()
        return CreateMessageResult(role="assistant", model="poet", content=TextContent(type="text", text="tea"))


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def deployment(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Deployment]:
    folder: Path = tmp_path_factory.mktemp("deployment")
    async with Deployment(folder, app="tests.apps.interop:app", poll_interval=20) as deployment:
        yield await deployment.start(nodes=2, workers=1)


@pytest.fixture(autouse=True)
def _the_client_complains_of_nothing(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Its log tells of what it could not read, and of answers that were refused."""
    yield
    complaints = [record for record in caplog.get_records("call") if record.name.startswith(("mcp", "root"))]
    assert [record.getMessage() for record in complaints if record.levelno >= logging.WARNING] == []


@pytest_asyncio.fixture(loop_scope="module")
async def user() -> User:
    return User()


@asynccontextmanager
async def connect(deployment: Deployment, user: User | None) -> AsyncIterator[ClientSession]:
    """An initialized session of Alice's; without a user, it declares that it can be asked nothing."""
    urls = [node.process.url for node in deployment.nodes]
    callbacks: dict[str, Any] = {}
    if user is not None:
        callbacks = {"elicitation_callback": user.fill_in, "sampling_callback": user.write}
    async with open_client(urls, ALICE) as ends, ClientSession(*ends, **callbacks) as session:
        await session.initialize()
        yield session


async def create(session: ClientSession, tool: str, **arguments: object) -> str:
    created = await session.experimental.call_tool_as_task(tool, arguments)
    return created.task.taskId


async def result_of(session: ClientSession, task_id: str) -> CallToolResult:
    return await session.experimental.get_task_result(task_id, CallToolResult)


async def wait_for_status(session: ClientSession, task_id: str, status: str) -> None:
    """Polls until the task is in ``status``."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        async for task in session.experimental.poll_task(task_id):
            if task.status == status:
                return
    raise AssertionError(f"the task was never {status}")


def text_of(result: CallToolResult) -> str:
    (block,) = result.content
    assert isinstance(block, TextContent)
    return block.text


def meta_of(params: ElicitRequestFormParams | CreateMessageRequestParams) -> object:
    return params.meta and params.meta.model_dump(exclude_none=True)


async def test_a_task_asks_for_a_form(deployment: Deployment, user: User) -> None:
    user.hold()
    async with connect(deployment, user) as session, connect(deployment, other := User()) as onlooker:
        task_id = await create(session, "book")
        waiting = asyncio.create_task(result_of(session, task_id))
        await wait_for_status(onlooker, task_id, "input_required")
        user.go_on()
        result = await waiting
        assert (await session.experimental.get_task(task_id)).status == "completed"
    assert not result.isError
    assert result.structuredContent == BOOKED
    (asked,) = user.elicited
    assert asked.message == "Where do you want to go?"
    assert asked.requestedSchema["required"] == ["city"]
    assert meta_of(asked) == {RELATED_TASK: {"taskId": task_id}}  # T-53
    assert other.elicited == []  # E-05: of another session, though of the same principal


async def test_a_client_that_only_polls_is_asked(deployment: Deployment, user: User) -> None:
    async with connect(deployment, user) as session:
        task_id = await create(session, "book")
        await wait_for_status(session, task_id, "completed")
        assert (await result_of(session, task_id)).structuredContent == BOOKED
    assert len(user.elicited) == 1


async def test_a_plain_call_asks_for_a_form(deployment: Deployment, user: User) -> None:
    async with connect(deployment, user) as session:
        assert (await session.call_tool("book")).structuredContent == BOOKED
    (asked,) = user.elicited
    assert meta_of(asked) is None


@pytest.mark.parametrize("action", ["decline", "cancel"])
async def test_a_form_that_is_not_filled_in(deployment: Deployment, user: User, action: Any) -> None:
    user.answer = ElicitResult(action=action)
    async with connect(deployment, user) as session:
        result = await session.call_tool("book")
    assert result.structuredContent == {"action": action, "trip": None}


async def test_a_field_that_is_left_empty(deployment: Deployment, user: User) -> None:
    user.answer = ElicitResult(action="accept", content={"city": "Oslo", "nights": None})
    async with connect(deployment, user) as session:
        result = await session.call_tool("book")
    assert result.structuredContent == {"action": "accept", "trip": {"city": "Oslo", "nights": 2}}


async def test_a_client_that_answers_with_an_error(deployment: Deployment, user: User) -> None:
    user.answer = ErrorData(code=INVALID_REQUEST, message="Nobody is here")
    async with connect(deployment, user) as session:
        result = await session.call_tool("book")
    assert result.isError
    assert text_of(result) == "The client refused the request: Nobody is here"


async def test_a_task_asks_the_clients_model(deployment: Deployment, user: User) -> None:
    async with connect(deployment, user) as session:
        task_id = await create(session, "rhyme", word="sea")
        result = await result_of(session, task_id)
    assert text_of(result) == "poet: tea"
    (asked,) = user.sampled
    assert [message.content for message in asked.messages] == [TextContent(type="text", text="Find a rhyme for sea")]
    assert (asked.maxTokens, asked.systemPrompt) == (20, "You are a poet")
    assert meta_of(asked) == {RELATED_TASK: {"taskId": task_id}}


async def test_a_plain_call_asks_the_clients_model(deployment: Deployment, user: User) -> None:
    async with connect(deployment, user) as session:
        result = await session.call_tool("rhyme", {"word": "sea"})
    assert text_of(result) == "poet: tea"
    (asked,) = user.sampled
    assert meta_of(asked) is None


@pytest.mark.parametrize("as_task", [True, False])
async def test_one_question_after_the_other(deployment: Deployment, user: User, as_task: bool) -> None:
    async with connect(deployment, user) as session:
        if as_task:
            result = await result_of(session, await create(session, "book_and_rhyme"))
        else:
            result = await session.call_tool("book_and_rhyme")
    assert text_of(result) == "Oslo, poet: tea"
    assert (len(user.elicited), len(user.sampled)) == (1, 1)


async def test_a_question_that_is_cancelled_with_its_task(deployment: Deployment, user: User) -> None:
    user.hold()
    async with connect(deployment, user) as session, connect(deployment, None) as other:
        task_id = await create(session, "book")
        await wait_for_status(other, task_id, "input_required")
        assert (await other.experimental.cancel_task(task_id)).status == "cancelled"
        user.go_on()  # the answer comes too late, and must not cost the session
        assert (await session.experimental.get_task(task_id)).status == "cancelled"


@pytest.mark.parametrize(("tool", "arguments"), [("book", {}), ("rhyme", {"word": "sea"})])
async def test_a_client_that_can_not_be_asked(deployment: Deployment, tool: str, arguments: dict[str, str]) -> None:
    async with connect(deployment, None) as session:
        result = await session.call_tool(tool, arguments)
    assert result.isError  # L-02, E-01: at once
    assert "The client does not support" in text_of(result)


async def test_a_plain_call_tells_how_far_it_is(deployment: Deployment) -> None:
    told: list[tuple[float, float | None, str | None]] = []

    async with connect(deployment, None) as session:

        async def hear(progress: float, total: float | None, message: str | None) -> None:
            told.append((progress, total, message))
            (deployment.folder / "python").touch()

        result = await session.call_tool("tell", {"label": "python"}, progress_callback=hear)
    assert text_of(result) == "python"
    assert told == [(1, 2, "half"), (2, 2, "whole")]
