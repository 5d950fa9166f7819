"""The conformance suite of MCP, against ``/mcp`` of a real server."""

from __future__ import annotations

import asyncio
import re
import shutil
import sys
from asyncio.subprocess import PIPE, STDOUT
from pathlib import Path

import pytest

from pgs_neo4j.database.connection import Database
from tests.conftest import Endpoint
from tests.engines import engine_on_papers
from tests.serving import entry, served
from tests.token_proxy import token_proxy

OURS = {
    *("server-initialize", "ping", "tools-list", "tools-call-error", "resources-list"),
    *("server-sse-multiple-streams", "dns-rebinding-protection"),
}
"""Scenarios that any server can be put through."""
EXAMPLES = (
    "tools-call-",
    "resources-read-",
    "resources-templates-",
    "json-schema-",
    "elicitation-",
)
"""Begin the scenarios that call tools and read resources of the suite's own example server."""
OPTIONAL = ("logging-", "completion-", "prompts-", "resources-subscribe", "resources-unsubscribe")
"""Begin those about features that this server does not advertise."""
RESUMING = ("server-sse-polling",)
"""Needs an example tool as well, and streams that can be resumed."""
RESULT = re.compile(r"^(\S) ([a-z0-9-]+): \d+ passed, (\d+) failed", re.MULTILINE)


@pytest.fixture
def suite() -> tuple[str, str]:
    """Node and the suite: of this environment, where ``.ci/run`` puts them, or of the machine."""
    own = Path(sys.executable).parent
    found = shutil.which("conformance", path=str(own)) or shutil.which("conformance")
    if found is None:
        pytest.skip("the suite is not installed (npm package @modelcontextprotocol/conformance)")
    script = Path(found).resolve()
    # It needs Node 22, which the npm package of that name puts beside it.
    beside = script.parents[3] / "node" / "bin" / "node"
    node = str(beside) if beside.exists() else shutil.which("node")
    if node is None:
        pytest.skip("node is not installed")
    return node, str(script)


@pytest.mark.thorough
async def test_every_scenario_that_applies_passes(
    endpoint: Endpoint, db: Database, suite: tuple[str, str], tmp_path: Path
) -> None:
    tokens = [entry("chief", role="operator")]
    async with engine_on_papers(endpoint, db, token=tokens) as pgs:
        await pgs.partitions.build("papers")
        async with served(pgs) as server, token_proxy(server, "pgs_chief") as base:
            running = await asyncio.create_subprocess_exec(
                *(*suite, "server", "--url", f"{base}/mcp", "--suite", "all"),
                *("-o", str(tmp_path)), stdout=PIPE, stderr=STDOUT, cwd=tmp_path,
            )  # fmt: skip
            told = (await asyncio.wait_for(running.communicate(), 300))[0].decode()
    failed = {name: int(count) for _, name, count in RESULT.findall(told)}
    assert failed.keys() >= OURS, told
    assert {name for name in OURS if failed[name]} == set(), told
    others = failed.keys() - OURS
    assert [one for one in others if not one.startswith((*EXAMPLES, *OPTIONAL, *RESUMING))] == []
