"""Looks at a client's answer before it counts."""

from typing import Any

import orjson

from receiver.protocol.elicitation import read_elicited
from receiver.protocol.errors import InvalidAnswer
from receiver.protocol.jsonrpc import Response
from receiver.protocol.sampling import check_sampled


def check_response(asked: dict[str, Any], response: Response) -> bytes | None:
    """The answer to the request ``asked`` as it is stored, or None for one that does not fit it (E-06)."""
    if response.error is not None:
        return orjson.dumps({"error": response.error})
    try:
        if asked["method"] == "elicitation/create":
            read_elicited(response.result, asked["params"].get("requestedSchema"))
        else:
            check_sampled(response.result)
    except InvalidAnswer:
        return None
    return orjson.dumps({"result": response.result})
