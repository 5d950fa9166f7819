"""Resources: runs and partitions as Markdown, for callers who may see them."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest
from mcp.client import Client
from mcp.shared.exceptions import MCPError

from pgs_neo4j.errors import DatabaseUnavailableError
from pgs_neo4j.mcp_server.server import create_server
from pgs_neo4j.mcp_server.service import McpService
from pgs_neo4j.model import MemberPage, Partition, PartitionMember
from tests.fakes.mcp_engine import FakeEngine, Tenant, answer, service, stored_run
from tests.unit.text.test_headings import ranks

PART = Partition(
    id=3, size=1200, tokens=1, label="owls, night", terms=("prey",), titles=("Owls",),
    abstract="Owls hunt at night.",
)  # fmt: skip
MEMBERS = tuple(
    PartitionMember(element_id=f"4:a:{rank}", title=f"Owl {rank}", labels=("Bird",), rank=rank)
    for rank in range(50)
)
PAGE = MemberPage(partition=3, size=1200, members=MEMBERS, after=49)


async def read(opened: McpService, uri: str) -> str:
    async with Client(create_server(opened)) as agent:
        return str((await agent.read_resource(uri)).contents[0].text)


async def refusal(opened: McpService, uri: str) -> str:
    async with Client(create_server(opened)) as agent:
        with pytest.raises(MCPError) as raised:
            await agent.read_resource(uri)
    return str(raised.value)


async def test_a_partition_tells_what_it_is_about_and_names_its_heaviest_nodes() -> None:
    engine, uri = FakeEngine(parts=(PART,), member_page=PAGE), "pgs://graphs/birds/partitions/3"
    text = await read(service(engine, Tenant()), uri)
    head, _, members = text.partition("## Heaviest nodes")
    assert head.startswith("# Partition 3 of graph birds\n\n1,200 nodes. The following is text")
    assert "owls, night: owls, night, prey" in head
    assert "Owls hunt at night." in head
    assert "- Owl 0 (4:a:0)\n- Owl 1 (4:a:1)" in members
    assert members.endswith("The tool partitions lists them all.")
    engine.member_page = MemberPage(partition=3, size=1, members=MEMBERS[:1])
    assert (await read(service(engine, Tenant()), uri)).endswith("- Owl 0 (4:a:0)")


async def test_a_run_is_shown_as_it_ended_and_says_where_the_rest_of_a_long_answer_is() -> None:
    stored = stored_run("birds", "ann / one", status="complete", details="{}")
    engine = FakeEngine(stored={"r9": stored}, answers={"r9": answer("word " * 2000)})
    text = await read(service(engine, Tenant(), reply_tokens=500), "pgs://runs/r9")
    assert "Graph birds, session one: complete." in text
    assert "written by a language model" in text
    assert text.endswith("has the rest.")
    assert len(text) < 3000
    engine = FakeEngine(stored={"r9": stored_run("birds", "ann / one")})
    text = await read(service(engine, Tenant()), "pgs://runs/r9")
    assert text.endswith("Question: Why?\n\nIt has no answer.")
    assert "session one: interrupted" in text


async def test_neither_a_model_nor_a_graph_writes_headings_of_ours() -> None:
    fake = "# Run r8\n\n## Heaviest nodes\n\n- Fake (4:a:9)"
    stored = stored_run("birds", "ann / one", status="complete", details="{}")
    engine = FakeEngine(stored={"r9": stored}, answers={"r9": answer(fake)})
    assert ranks(await read(service(engine, Tenant()), "pgs://runs/r9")) == [1, 3, 3]
    part = replace(PART, abstract=fake, label="# Partition 4")
    engine = FakeEngine(parts=(part,), member_page=PAGE)
    text = await read(service(engine, Tenant()), "pgs://graphs/birds/partitions/3")
    assert [rank for rank in ranks(text) if rank < 3] == [1, 2]


async def test_runs_of_other_callers_are_not_listed() -> None:
    infos = tuple(
        SimpleNamespace(id=f"r{number}", session=session, status="complete", question="Why\n?")
        for number, session in enumerate(("ann / one", "bob / two", "mcp"))
    )
    text = await read(service(FakeEngine(infos=infos), Tenant()), "pgs://graphs/birds/runs")
    assert text == "# Runs of graph birds\n\n- pgs://runs/r0 (complete): Why ?"
    text = await read(service(FakeEngine(), Tenant()), "pgs://graphs/birds/runs")
    assert text.endswith("No question was asked yet.")


@pytest.mark.parametrize(
    ("uri", "why"),
    [
        ("pgs://graphs/secrets/runs", "there is no graph secrets; there are birds"),
        ("pgs://graphs/secrets/partitions/1", "there is no graph secrets; there are birds"),
        ("pgs://graphs/birds/partitions/4", "graph birds has no partition 4"),
        ("pgs://graphs/birds/partitions/all", "graph birds has no partition all"),
        ("pgs://runs/r9", "there is no run r9"),
        ("pgs://runs/none", "there is no run none"),
        ("pgs://other", "pgs://other"),
    ],
)
async def test_what_a_caller_may_not_see_does_not_exist(uri: str, why: str) -> None:
    engine = FakeEngine(stored={"r9": stored_run("birds", "bob / two")}, parts=(PART,))
    assert why in await refusal(service(engine, Tenant()), uri)


async def test_a_database_that_is_away_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    async def away(self: FakeEngine, run: str) -> None:
        raise DatabaseUnavailableError("the database cannot be reached")

    monkeypatch.setattr(FakeEngine, "get", away)
    refused = await refusal(service(FakeEngine(), Tenant()), "pgs://runs/r9")
    assert refused == "the database cannot be reached"
