"""What the imagined requestor is asked, and what it answers."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import orjson

from receiver.protocol.elicitation import read_elicited
from receiver.protocol.errors import InvalidAnswer
from receiver.protocol.sampling import check_sampled


class Question(NamedTuple):
    """A request to the client, as it was sent, without the ``_meta`` that names its task."""

    method: str
    params: dict[str, Any]

    @property
    def message(self) -> str:
        """What a user is asked; ``""`` for a question to a model."""
        return str(self.params.get("message", ""))


@dataclass(frozen=True)
class Refusal:
    """The client answers with an error."""

    message: str


Answer = Mapping[str, Any] | Refusal | None  # a result by its wire names; None leaves a question open
Answers = Sequence[Answer] | Callable[[Question], Answer]


def accept(content: Mapping[str, Any] | None = None, /, **fields: Any) -> dict[str, Any]:
    """The user fills in the form, or agrees to open the link."""
    return {"action": "accept", "content": {**(content or {}), **fields}}


def decline() -> dict[str, Any]:
    """The user says no."""
    return {"action": "decline"}


def dismiss() -> dict[str, Any]:
    """The user closes the form and says nothing."""
    return {"action": "cancel"}


def say(text: str, *, model: str = "rehearsed") -> dict[str, Any]:
    """The client's model writes ``text``."""
    return {"role": "assistant", "content": {"type": "text", "text": text}, "model": model}


def refuse(message: str) -> Refusal:
    """The client answers with an error of this text."""
    return Refusal(message)


class Prompter:
    """Gives the answers for one task: those of a list in the order of the questions."""

    def __init__(self, answers: Answers) -> None:
        self._answers = answers
        self.asked: list[Question] = []

    def answer(self, question: Question) -> bytes | None:
        """The next answer as it is stored, None for no answer.  Raises AssertionError where none fits."""
        self.asked.append(question)
        answer = self._find(question)
        if answer is None:
            return None
        if isinstance(answer, Refusal):
            return orjson.dumps({"error": {"code": -1, "message": answer.message}})
        try:
            _check(question, dict(answer))
        except InvalidAnswer as error:
            raise AssertionError(f"answer {len(self.asked)} does not fit: {error}\n{_show(question)}") from None
        return orjson.dumps({"result": dict(answer)})

    def _find(self, question: Question) -> Answer:
        if callable(self._answers):
            return self._answers(question)
        if len(self.asked) <= len(self._answers):
            return self._answers[len(self.asked) - 1]
        there = f"question {len(self.asked)} has no answer; {len(self._answers)} were given"
        raise AssertionError(f"{there}\n{_show(question)}")


def _check(question: Question, answer: object) -> None:
    if question.method == "elicitation/create":
        read_elicited(answer, question.params.get("requestedSchema"))
    else:
        check_sampled(answer)


def _show(question: Question) -> str:
    return f"{question.method}: {orjson.dumps(question.params, option=orjson.OPT_INDENT_2).decode()}"
