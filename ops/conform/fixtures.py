"""The tools that a checked server exposes, by role.  ``ops/conform/app.py`` is an example of all of them.

The tool of a role is named ``conform_<role>``, unless ``--tool ROLE=NAME`` says otherwise.
"""

from dataclasses import dataclass

from receiver.tools.tool import TaskSupport

PREFIX = "conform_"


@dataclass(frozen=True)
class Fixture:
    """``arguments`` as in a signature; ``support`` is its ``execution.taskSupport``."""

    arguments: str
    does: str
    support: TaskSupport = "optional"


FIXTURES = {
    "echo": Fixture("text: string", "Returns `text` as its one text block."),
    "forbidden": Fixture("text: string", "As echo, but never as a task.", "forbidden"),
    "required": Fixture("text: string", "As echo, but only as a task.", "required"),
    "sleep": Fixture("seconds: number", "Waits so long and returns text; stops when it is cancelled."),
    "stubborn": Fixture("seconds: number", "As sleep, but takes no notice of being cancelled."),
    "tick": Fixture("label: string, ticks: integer", "Counts to `ticks` under `label`, ten a second; can be stopped."),
    "ticks": Fixture("label: string", "Returns how far tick has counted under `label`, as text: `12`."),
    "fail": Fixture("text: string", "Ends with an `isError` result whose first text is `text`."),
    "error": Fixture("code: integer, message: string, data: any", "Ends with exactly this JSON-RPC error."),
    "structured": Fixture("text: string", "Returns `{text, length}` and declares it as outputSchema."),
    "blocks": Fixture("", "Returns a text block and an image block."),
    "meta": Fixture("text: string", 'As echo; the result has the `_meta` `{"example.org/conform": text}`.'),
    "progress": Fixture("steps: integer", "Reports progress 1 to `steps` of `steps`, ten a second, and returns text."),
    "log": Fixture("level: string, message: string", "Sends one log message, and returns text."),
    "status": Fixture("message: string, seconds: number", "Sets the statusMessage, waits, and returns text."),
    "close": Fixture("", "Closes the stream on which its caller waits, if it can, and returns text a second later."),
    "elicit": Fixture(
        "message: string, times: integer = 1",
        "Asks so many times, one after the other, for a form with one required string `answer`. "
        "Returns the last answer's action and content as text, `accept blue`.",
    ),
    "elicit_url": Fixture(
        "message: string, url: string",
        "Asks in url mode, tells when that is done if it can, and returns the action as text.",
    ),
    "sample": Fixture("prompt: string", "Asks for a message of the client's model, and returns its text."),
}
