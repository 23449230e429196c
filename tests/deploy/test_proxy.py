"""nginx, as ``ops/deploy/nginx`` configures it, in front of two nodes: what a stream says gets through at once."""

import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx2
import pytest

from tests.acceptance.deployment import Deploy, Deployment
from tests.acceptance.requestor import Requestor
from tests.deploy.guarded import DEPLOY
from tests.http.requestor import Requestor as Wire
from tests.processes import HOST, Child, find_free_port

NGINX = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
pytestmark = pytest.mark.skipif(NGINX is None, reason="no nginx on PATH (the Debian package is nginx-light)")


def configure(folder: Path, port: int, deployment: Deployment) -> Path:
    """The configuration, with the places of this machine in it."""
    text = (DEPLOY / "nginx" / "nginx.conf").read_text()
    nodes = [f"{HOST}:{node.process.port}" for node in deployment.nodes]
    for given, here in [
        ("listen 8080", f"listen {HOST}:{port}"),
        ("receiver-1:8000", nodes[0]),
        ("receiver-2:8000", nodes[1]),
        ("/tmp/", f"{folder}/"),  # noqa: S108 - what stands in the file
        ("worker_processes auto;", "daemon off;\nmaster_process off;"),
    ]:
        assert given in text
        text = text.replace(given, here)
    (folder / "nginx.conf").write_text(text)
    return folder / "nginx.conf"


@pytest.fixture
def proxies() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


async def start_proxy(proxies: ExitStack, folder: Path, deployment: Deployment) -> str:
    port = find_free_port()
    file = configure(folder, port, deployment)
    assert NGINX is not None
    proxies.enter_context(Child([NGINX, "-p", folder, "-e", folder / "error.log", "-c", file]))
    url = f"http://{HOST}:{port}"
    async with httpx2.AsyncClient(transport=httpx2.AsyncHTTPTransport(retries=10), trust_env=False) as http:
        assert (await http.get(f"{url}/livez")).status_code == 200
    return url


async def test_tasks_are_created_and_awaited_through_it(deploy: Deploy, proxies: ExitStack, tmp_path: Path) -> None:
    deployment = await deploy()
    url = await start_proxy(proxies, tmp_path, deployment)
    async with Requestor(url, "alice-token") as alice:
        task = await alice.create("gated", label="a")
        deployment.open_gates("a")
        assert (await alice.outcome(task))["label"] == "a"


async def test_a_stream_is_not_held_back(proxies: ExitStack, tmp_path: Path) -> None:
    slow = {"name": "slow_compute", "arguments": {"seconds": 3600}, "task": {}, "_meta": {"progressToken": "p"}}
    async with Deployment(tmp_path, "ops.demo:app") as deployment:
        url = await start_proxy(proxies, tmp_path, await deployment.start(2, 1))
        async with Requestor(url, "alice-token") as alice, httpx2.AsyncClient(trust_env=False, timeout=20) as http:
            task = (await alice.ask("tools/call", **slow))["task"]["taskId"]
            async with Wire(http, f"{url}/mcp", "alice-token").stream("tasks/result", {"taskId": task}) as stream:
                events = [await stream.next() for _ in range(4)]  # they are there although the answer is not
            assert b"notifications/progress" in events[-1]


async def test_when_a_node_is_gone_the_other_one_serves(deploy: Deploy, proxies: ExitStack, tmp_path: Path) -> None:
    deployment = await deploy()
    url = await start_proxy(proxies, tmp_path, deployment)
    deployment.nodes[0].process.kill()
    async with Requestor(url, "alice-token") as alice:
        for number in range(4):
            assert (await alice.call("instant", label=str(number)))["structuredContent"]["label"] == str(number)


async def test_metrics_are_not_for_the_world(deploy: Deploy, proxies: ExitStack, tmp_path: Path) -> None:
    url = await start_proxy(proxies, tmp_path, await deploy(workers=0, nodes=2))
    async with httpx2.AsyncClient(trust_env=False) as http:
        assert (await http.get(f"{url}/metrics")).status_code == 404
