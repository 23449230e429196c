"""The wire, mounted under paths of other applications, of which no lifespan reaches it."""

from fastapi import FastAPI
from starlette.applications import Starlette
from starlette.routing import Mount

from receiver.app import create_app
from tests.apps.wire import app

site = FastAPI()


@site.get("/")
async def home() -> str:
    """The site's own page."""
    return "home"


site.mount("/tools", create_app(app))
site.mount("/a", Starlette(routes=[Mount("/b", create_app(app))]))
