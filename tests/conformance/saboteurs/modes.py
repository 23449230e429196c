"""What spoils the checks of ``ops/conform/checks/modes.py``."""

from ops.client.stream import Message
from ops.conform.checks import modes
from tests.conformance.sabotage import Call, spoils_message, spoils_request


@spoils_request(modes.no_elicitation_undeclared, says="elicitation/create")
def declare_forms(call: Call) -> None:
    _declare(call, {"elicitation": {"form": {}}})


@spoils_request(modes.no_url_undeclared, says='"mode": "url"')
def declare_urls(call: Call) -> None:
    _declare(call, {"elicitation": {"form": {}, "url": {}}})


@spoils_request(modes.no_form_undeclared, says="requestedSchema")
def declare_both(call: Call) -> None:
    _declare(call, {"elicitation": {"form": {}, "url": {}}})


@spoils_request(modes.empty_means_forms, says="elicitation.form")
def take_empty_for_urls(call: Call) -> None:
    _declare(call, {"elicitation": {"url": {}}})


@spoils_request(modes.no_sampling_undeclared, says="sampling/createMessage")
def declare_sampling(call: Call) -> None:
    _declare(call, {"sampling": {}})


@spoils_message(modes.no_elicitation_undeclared, patience=3)
def never_end(call: Call, message: Message) -> Message | None:
    return None if call.method in ("tools/call", "tasks/result") else message


def _declare(call: Call, capabilities: Message) -> None:
    if call.method == "initialize":
        call.message = {**call.message, "params": {**call.params, "capabilities": capabilities}}
