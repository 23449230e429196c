"""What spoils the checks of ``ops/conform/checks/credentials.py``."""

from ops.conform.checks import credentials
from tests.conformance.sabotage import Call, Head, spoils_head, spoils_request
from tests.conformance.saboteurs.isolation import ALICE


@spoils_request(credentials.token_is_missing)
def trust_the_session(call: Call) -> None:
    call.headers.setdefault("authorization", ALICE)


@spoils_request(credentials.token_is_missing, says="sent: GET")
def trust_the_session_of_a_stream(call: Call) -> None:
    if call.verb == "GET":
        call.headers.setdefault("authorization", ALICE)


@spoils_head(credentials.token_is_missing)
def say_forbidden(call: Call, head: Head) -> None:
    if head.status == 401:
        head.status = 403


@spoils_request(credentials.token_is_not_valid)
def look_at_no_token(call: Call) -> None:
    call.headers["authorization"] = ALICE


@spoils_request(credentials.session_of_another_user, says="sent: POST")
def take_bob_for_alice(call: Call) -> None:
    call.headers["authorization"] = ALICE


@spoils_request(credentials.session_of_another_user, says="sent: DELETE")
def let_anyone_end_it(call: Call) -> None:
    if call.verb == "DELETE":
        call.headers["authorization"] = ALICE
