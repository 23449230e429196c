"""What a later version of ``tests.apps.library`` could be: most of it is gone."""

from receiver import Receiver

app = Receiver("library", version="2.0.0")


@app.resource("library://hours")
def hours() -> str:
    """When it is open."""
    return "9 to 5"
