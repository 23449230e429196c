"""What is measured: a tool that takes no time."""

from receiver import Receiver

app = Receiver("bench")


@app.tool(task="optional")
async def instant(text: str) -> str:
    """Returns its text."""
    return text
