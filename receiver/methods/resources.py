"""``resources/list``, ``resources/templates/list`` and ``resources/read``."""

from receiver.dispatch import Answer, Later
from receiver.methods.calls import call_plainly
from receiver.methods.listing import list_page
from receiver.methods.services import ServerCall
from receiver.protocol.errors import MethodNotFound, ResourceNotFound
from receiver.resources.resource import read_uri


async def list_resources(call: ServerCall) -> Answer:
    """The resources of one URI each."""
    require_resources(call)
    return await list_page(call, "resources", call.services.app.resources.fixed)


async def list_templates(call: ServerCall) -> Answer:
    """The templates."""
    require_resources(call)
    return await list_page(call, "resourceTemplates", call.services.app.resources.templates)


async def read_resource(call: ServerCall) -> Answer | Later:
    """What a resource holds, read by its function."""
    require_resources(call)
    uri = read_uri(call.params)
    found = call.services.app.resources.find(uri)
    if found is None:
        raise ResourceNotFound(uri)
    return await call_plainly(call, found[0], {"uri": uri})


def require_resources(call: ServerCall) -> None:
    """Raises MethodNotFound where there are none."""
    if not len(call.services.app.resources):  # not declared, not there
        raise MethodNotFound(f"Method not found: {call.method}")
