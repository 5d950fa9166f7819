"""The MCP server on a real graph, by the client of its own library; the model is scripted."""

from __future__ import annotations

import ast
import asyncio
import json
import os
import re
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters

from pgs_neo4j.database.connection import Database
from pgs_neo4j.engine import PGS
from pgs_neo4j.llm.scripted import ScriptedLLM, contract_reply
from pgs_neo4j.mcp_server.questions import QuestionBoard
from pgs_neo4j.mcp_server.server import create_server
from pgs_neo4j.mcp_server.service import McpBounds, McpService
from pgs_neo4j.model import Prompt
from tests.conftest import Endpoint
from tests.database import alter, fetch
from tests.papers import ROOT, blocks
from tests.waiting import until

QUESTION = "What do the papers say about sleep?"
WRITES = {"plan", "ask", "continue_reading", "cancel"}
READS = {"graphs", "partitions", "node", "findings_on_node", "read_cypher", "result"}


class Gate:
    """A model that replies when the gate is open."""

    def __init__(self) -> None:
        self.open = asyncio.Event()
        self.asked = asyncio.Event()

    async def __call__(self, prompt: Prompt) -> str:
        self.asked.set()
        await self.open.wait()
        return contract_reply(prompt)


@asynccontextmanager
async def client(pgs: PGS, **bounds: Any) -> AsyncIterator[Client]:
    """A client of a server in this process."""
    service = McpService(pgs, bounds=McpBounds(**bounds))
    try:
        async with Client(create_server(service)) as connected:
            yield connected
    finally:
        await service.questions.live.stop()


async def call(connected: Client, tool: str, **arguments: Any) -> Any:
    """Call a tool, and return its structured reply."""
    result = await connected.call_tool(tool, arguments)
    assert not result.is_error, result.content
    assert json.loads(result.content[0].text) == result.structured_content
    return result.structured_content


async def test_an_agent_plans_asks_looks_and_reads_on(pgs: PGS) -> None:
    heard: list[tuple[float, float | None, str | None]] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        heard.append((progress, total, message))

    async with client(pgs) as agent:
        assert {tool.name for tool in (await agent.list_tools()).tools} == READS | WRITES
        assert (await call(agent, "graphs"))["graphs"][0]["name"] == "papers"
        plan = await call(agent, "plan", question=QUESTION)
        assert (plan["partition_count"], plan["graph"]) == (len(plan["partitions"]), "papers")

        asked = {"question": QUESTION, "max_sweep_partitions": 2}
        reply = (await agent.call_tool("ask", asked, progress_callback=hear)).structured_content
        assert reply is not None
        assert (reply["state"], reply["session"]) == ("complete", "mcp")
        values = [value for value, _, _ in heard]
        assert values == sorted(set(values)), "progress has to grow"
        assert heard[0] == (0.0, None, "accepted")
        read = reply["coverage"]["partitions_read"]
        assert (heard[-1][1], int(heard[-1][0])) == (read + 1, read)  # and the synthesis

        cited = reply["from_model"]["citations"][0]
        assert f"[{cited['name']}]" in reply["from_model"]["text"]
        node = await call(agent, "node", element_id=cited["element_id"], limit=3)
        assert node["from_graph"]["title"] == cited["title"]
        assert len(node["neighbors"]) == 3
        more = await call(agent, "node", element_id=cited["element_id"], after=node["after"])
        assert not {one["element_id"] for one in node["neighbors"]} & {
            one["element_id"] for one in more["neighbors"]
        }
        findings = await call(agent, "findings_on_node", element_id=cited["element_id"])
        assert findings["findings"][0]["run"] == reply["run"]
        listed = await call(agent, "partitions", limit=3)
        assert (listed["partition_count"], listed["after"]) == (4, "3")
        assert (await call(agent, "partitions", after="3"))["after"] is None
        members = await call(agent, "partitions", partition=node["partition"], limit=2)
        assert [one["rank"] for one in members["members"]] == [0, 1]

        again = await call(agent, "result", run=reply["run"])
        assert again["from_model"] == reply["from_model"]
        rest = await call(agent, "continue_reading")
        assert (rest["question"], rest["coverage"]["partitions_read"]) == (QUESTION, 4)


@pytest.mark.thorough
async def test_a_long_question_stays_in_progress_and_a_canceled_one_can_be_resumed(
    pgs: PGS,
) -> None:
    await pgs.partitions.build("papers")
    gate = Gate()
    pgs.sweep_llm = ScriptedLLM(gate)
    service = McpService(pgs, QuestionBoard(1))
    async with Client(create_server(service)) as agent:
        late = await call(agent, "ask", question=QUESTION, wait_s=0.5)
        assert (late["state"], late["from_model"]) == ("running", None)
        assert "result with this run" in late["note"]
        busy = await agent.call_tool("ask", {"question": QUESTION, "wait_s": 0})
        assert busy.is_error
        assert "1 question is in progress" in busy.content[0].text
        await gate.asked.wait()
        ended = await call(agent, "cancel", run=late["run"])
        assert ended["state"] == "interrupted"
        assert "resumes it" in ended["note"]

        # A client that gives up its call cancels the run.
        gate.asked.clear()
        waiting = asyncio.create_task(agent.call_tool("ask", {"question": QUESTION, "wait_s": 60}))
        await gate.asked.wait()
        waiting.cancel()
        await asyncio.wait([waiting])
        infos = await ended_runs(pgs, 2)
        assert [info.status for info in infos] == ["interrupted", "interrupted"]

        gate.open.set()
        resumed = await call(agent, "continue_reading", run=infos[0].id)
        assert (resumed["run"], resumed["state"]) == (infos[0].id, "complete")
    await service.questions.live.stop()


async def ended_runs(pgs: PGS, count: int) -> list[Any]:
    """So many runs, as soon as all of them have ended."""
    infos: list[Any] = []

    async def ended() -> bool:
        infos[:] = await pgs.runs("papers")
        return len(infos) == count and all(info.status != "running" for info in infos)

    await until(ended, 20)
    return infos


@pytest.mark.thorough
async def test_replies_are_capped_and_the_rest_can_be_fetched(pgs: PGS, db: Database) -> None:
    await alter(
        db,
        "MATCH (p:Paper {doi: 'doi/0'}) "
        "SET p.abstract = reduce(s = '', i IN range(1, 3000) | s + 'word' + i + ' ')",
    )
    query = "MATCH (p:Paper {doi: 'doi/0'}) RETURN elementId(p) AS id, p.abstract AS text"
    ((row,), whole) = await fetch(db, query), ""
    async with client(pgs, reply_tokens=1000) as agent:
        offset: int | None = 0
        while offset is not None:
            result = await agent.call_tool("node", {"element_id": row["id"], "offset": offset})
            assert len(result.content[0].text) < 1000 * 5
            node = result.structured_content
            assert node is not None
            whole += node["from_graph"]["text"]
            offset = node["next_offset"]
            assert ("offset=" in node["note"]) == (offset is not None)
    assert whole == row["text"].strip()


def recipe() -> tuple[list[str], set[str]]:
    """The arguments of the server in the recipe for LlamaIndex, and the tools that it allows."""
    page = ROOT / "pgs_neo4j" / "manual" / "mcp.md"
    (code,) = (block.code for block in blocks(page) if "BasicMCPClient(" in block.code)
    command = re.search(r'BasicMCPClient\("(\w+)", args=(\[.*?\])\)', code)
    allowed = re.search(r"allowed_tools=(\[.*?\])", code)
    assert command is not None
    assert allowed is not None
    assert command[1] == "pgs"
    return ast.literal_eval(command[2]), {*ast.literal_eval(allowed[1])}


@pytest.mark.thorough
@pytest.mark.parametrize("read_only", [True, False])
async def test_a_process_speaks_mcp_and_nothing_else_on_stdout(
    pgs: PGS, endpoint: Endpoint, read_only: bool
) -> None:
    """The second one as in the recipe for LlamaIndex, which uses the same client."""
    words, allowed = (["mcp", "--read-only"], READS) if read_only else recipe()
    environment = {
        **os.environ, **endpoint.environment(), "PYTHONPATH": str(ROOT), "PGS_EMBEDDER": "none",
        "PGS_LLM_PROVIDER": "extractive",
    }  # fmt: skip
    program = StdioServerParameters(
        command=sys.executable, args=["-m", "pgs_neo4j", *words], env=environment
    )
    async with asyncio.timeout(120), Client(program) as agent:
        tools = (await agent.list_tools()).tools
        assert {tool.name for tool in tools} == (READS if read_only else READS | WRITES)
        assert allowed <= {tool.name for tool in tools}
        assert (await call(agent, "graphs"))["graphs"][0]["name"] == "papers"
        if not read_only:
            return
        assert all(tool.annotations and tool.annotations.read_only_hint for tool in tools)
        failed = await agent.call_tool("partitions", {"graph": "other"})
        assert failed.is_error
        assert failed.content[0].text.endswith(": there is no graph other; there are papers")
        refused = await agent.call_tool("ask", {"question": QUESTION})
        assert refused.is_error
