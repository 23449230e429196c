"""Where the console is: below a path of the application that serves clients, or alone."""

from starlette.responses import PlainTextResponse, RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ops.admin.gate import path_of
from ops.console.app import PATH, Console


def mount(served: ASGIApp, console: Console) -> ASGIApp:
    """``served``, and the console below PATH, which costs the clients of ``served`` next to nothing.

    The console ends with the lifespan.
    """

    async def serve(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and path_of(scope).startswith(PATH):
            await _enter(scope, receive, send)
        elif scope["type"] == "lifespan":
            await served(scope, receive, _closing(send))
        else:
            await served(scope, receive, send)

    async def _enter(scope: Scope, receive: Receive, send: Send) -> None:
        rest, root = path_of(scope)[len(PATH) :], scope.get("root_path", "")
        if rest.startswith("/"):
            await console({**scope, "root_path": root + PATH}, receive, send)
        elif rest:
            await served(scope, receive, send)
        else:
            await RedirectResponse(f"{root}{PATH}/", 307)(scope, receive, send)

    def _closing(send: Send) -> Send:
        async def pass_on(message: Message) -> None:
            if message["type"].startswith("lifespan.shutdown."):
                await console.close()
            await send(message)

        return pass_on

    return serve


def serve_alone(console: Console) -> ASGIApp:
    """The console below PATH and nothing else; ``/`` leads there, and ``/livez`` says that this process answers."""
    return mount(_answer_rest, console)


async def _answer_rest(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "lifespan":
        for _ in range(2):
            message = await receive()
            await send({"type": f"{message['type']}.complete"})
    elif path_of(scope) == "/":
        await RedirectResponse(f"{scope.get('root_path', '')}{PATH}/", 307)(scope, receive, send)
    else:
        is_livez = path_of(scope) == "/livez"
        await PlainTextResponse("ok\n" if is_livez else "not found\n", 200 if is_livez else 404)(scope, receive, send)
