"""The tools without a database: callers, bounds, errors, and what a reply leaves out."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from mcp.client import Client
from mcp.shared.exceptions import MCPError

from pgs_neo4j.errors import ModelAuthError, PGSError, UnknownNodeError
from pgs_neo4j.mcp_server.questions import LiveQuestion, QuestionBoard
from pgs_neo4j.mcp_server.server import create_server
from pgs_neo4j.mcp_server.service import choose_graph
from pgs_neo4j.model import Partition
from tests.fakes.mcp_engine import (
    FakeEngine,
    Tenant,
    call,
    refusal,
    said,
    service,
    shown,
    stored_run,
)


async def test_a_tenant_hears_of_no_other_graph_and_a_reader_may_not_ask() -> None:
    opened = service(FakeEngine(graph="secrets"), Tenant())
    listed = (await call(opened, "graphs")).structured_content
    assert [graph["name"] for graph in listed["graphs"]] == ["birds"]
    for tool, arguments in (
        ("partitions", {}), ("node", {"element_id": "4:a:1"}), ("ask", {"question": "Why?"}),
        ("findings_on_node", {"element_id": "4:a:1"}), ("plan", {"question": "Why?"}),
        ("continue_reading", {}),
    ):  # fmt: skip
        refused = said(await call(opened, tool, graph="secrets", **arguments))
        assert refused.endswith("there is no graph secrets; there are birds")
    reader = service(opened.pgs, Tenant(role="reader"))  # type: ignore[arg-type]
    for tool in ("plan", "ask", "continue_reading"):
        refused = said(await call(reader, tool, question="Why?", graph="birds"))
        assert refused.endswith("this needs the role asker")
    assert opened.pgs.asked == []  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("graph", "session"), [("secrets", "ann / one"), ("birds", "bob / two"), ("birds", "mcp")]
)
async def test_the_run_of_another_caller_is_unknown(graph: str, session: str) -> None:
    engine = FakeEngine(stored={"r9": stored_run(graph, session)})
    for tool in ("result", "cancel", "continue_reading"):
        assert "there is no run r9" in await refusal(engine, tool, run="r9")
    assert "there is no run none" in await refusal(engine, "result", run="none")


async def test_a_run_without_an_answer_can_be_resumed() -> None:
    engine = FakeEngine(stored={"r9": stored_run("birds", "ann / one")})
    reply = await shown(engine, "result", run="r9")
    assert (reply["state"], reply["session"], reply["from_model"]) == ("interrupted", "one", None)
    assert "resumes it" in reply["note"]


async def test_findings_of_other_callers_are_not_read() -> None:
    engine = FakeEngine()
    reply = await shown(engine, "findings_on_node", element_id="4:a:1")
    assert engine.asked == [("birds", ["ann / one"])]
    assert reply["findings"][0]["session"] == "one"
    assert reply["findings"][0]["from_model"] == {"text": "Owls hunt.", "quotes": ["hunt"]}


async def test_a_statement_is_read_by_who_may_see_all_graphs() -> None:
    engine = FakeEngine()
    opened = service(engine, Tenant(whole=True))
    read = await call(opened, "read_cypher", statement="MATCH …", parameters={"x": 1}, limit=3)
    assert engine.asked == [("MATCH …", {"x": 1})]
    content = read.structured_content
    assert content["columns"] == ["bird", "eggs"]
    assert [row["from_graph"] for row in content["rows"]] == [
        ["bird 0", 0], ["bird 1", 1], ["bird 2", 2],
    ]  # fmt: skip
    assert content["truncated"] is False
    narrow = service(engine, Tenant(whole=True), reply_tokens=60)
    short = await call(narrow, "read_cypher", statement="MATCH …")
    assert short.structured_content["truncated"] is True
    assert "left out" in short.structured_content["note"]
    refused = said(await call(service(engine, Tenant()), "read_cypher", statement="MATCH …"))
    assert "beyond single graphs" in refused


async def test_the_configured_graph_is_taken_if_the_caller_sees_it() -> None:
    engine: Any = FakeEngine(graph="secrets")
    assert (await choose_graph(engine, Tenant(graphs=frozenset({"secrets"})), None)).name == (
        "secrets"
    )
    with pytest.raises(PGSError, match="there are birds; name one in the argument 'graph'"):
        await choose_graph(engine, Tenant(), None)
    with pytest.raises(PGSError, match="you may see no graph"):
        await choose_graph(engine, Tenant(graphs=frozenset()), "birds")


async def test_an_error_is_one_sentence_and_a_fault_says_nothing(
    caplog: pytest.LogCaptureFixture,
) -> None:
    engine = FakeEngine(error=UnknownNodeError("graph birds has no node 'x'"))
    assert (await refusal(engine, "node", element_id="x")).endswith("graph birds has no node 'x'")
    engine.error = RuntimeError("password=hunter2")
    with caplog.at_level(logging.ERROR):
        refused = await refusal(engine, "node", element_id="x")
    assert "hunter2" not in refused
    assert "Traceback" not in refused
    assert "the tool node failed unexpectedly: RuntimeError" in caplog.text


async def test_a_question_that_fails_says_why_and_how_to_resume_it() -> None:
    engine = FakeEngine(error=ModelAuthError("the key was refused"))
    refused = await refusal(engine, "ask", question="Why?")
    assert "the key was refused; continue_reading with run r000000000001 resumes it" in refused


async def test_a_wait_and_a_budget_can_only_be_lowered() -> None:
    opened = service(FakeEngine(), Tenant(), most_wait_s=0.05)
    given = {"question": "Why?", "wait_s": 3000, "max_cost": 5.0, "max_sweep_partitions": 3}
    reply = (await call(opened, "ask", **given)).structured_content
    assert (reply["state"], reply["run"], reply["session"]) == ("running", "r000000000001", "mcp")
    ((_, asked),) = opened.pgs.asked  # type: ignore[attr-defined]
    assert (asked["session_id"], asked["max_sweep_partitions"]) == ("ann / mcp", 3)
    assert "max_cost" not in asked
    assert "1 question is in progress" in said(await call(opened, "ask", question="And?"))
    reply = (await call(opened, "result", run="r000000000001")).structured_content
    assert reply["progress"] == "run r000000000001 began"
    await opened.questions.live.stop()
    assert opened.questions.live.active() == []


async def test_pages_of_partitions_fit_the_reply() -> None:
    parts = tuple(
        Partition(id=number, size=9, tokens=1, label="birds", titles=("Owl " * 60,))
        for number in range(1, 31)
    )
    engine, seen, after = FakeEngine(parts=parts), list[int](), None
    while True:
        page = await shown(engine, "partitions", tokens=500, after=after)
        seen += [entry["partition"] for entry in page["partitions"]]
        assert page["partition_count"] == 30
        after = page["after"]
        if after is None:
            break
        assert len(page["partitions"]) < 30
    assert seen == list(range(1, 31))
    assert "leads to no page" in await refusal(engine, "partitions", after="-1")


async def test_without_asking_tools_nothing_can_be_asked() -> None:
    async with Client(create_server(service(FakeEngine()), read_only=True)) as agent:
        tools = (await agent.list_tools()).tools
        assert {tool.name for tool in tools} == {
            "graphs", "partitions", "node", "findings_on_node", "read_cypher", "result",
        }  # fmt: skip
        assert all(tool.annotations and tool.annotations.read_only_hint for tool in tools)
        assert all(tool.output_schema and tool.description for tool in tools)
        assert said(await agent.call_tool("ask", {"question": "Why?"})) == "Unknown tool: ask"


async def test_questions_that_ended_long_ago_are_forgotten() -> None:
    board, answer = QuestionBoard(1), object()

    async def work(hear: Any, max_cost: float | None) -> Any:
        return answer

    async def report(advance: Any) -> None: ...

    for number in range(board.live.most_ended + 3):
        asked = LiveQuestion(f"r{number}", "birds", "s", "Why?")
        latest = await board.start(asked, Tenant(), work)
        await board.wait(latest, 5, report)
    assert (latest.answer, latest.error, latest.cancelled) == (answer, "", False)
    assert len(board.live.by_id) == board.live.most_ended + 1


def test_the_library_leaves_the_logs_of_the_process_alone() -> None:
    root = logging.getLogger()
    before = (list(root.handlers), root.level)
    create_server(service(FakeEngine()))
    assert (list(root.handlers), root.level) == before


@pytest.mark.parametrize(
    ("tool", "arguments", "words"),
    [
        ("ask", {"question": "Why?", "max_call": 1}, "'max_call'; did you mean max_calls?"),
        ("ask", {"question": "Why?", "max_partitions": 1}, "did you mean max_sweep_partitions?"),
        ("plan", {"question": "Why?", "wait_s": 1}, "'wait_s'; it takes question, graph"),
        ("graphs", {"all": True}, "graphs has no argument 'all'; it takes none"),
        ("ask", {"question": "Why?", "max_cost": -5}, "max_cost must be greater than 0"),
        ("ask", {}, "question is missing"),
        ("partitions", {"limit": "secret"}, "limit must be a whole number"),
    ],
)  # fmt: skip
async def test_an_argument_that_a_tool_does_not_take_is_refused_in_one_sentence(
    tool: str, arguments: dict[str, Any], words: str
) -> None:
    """An agent that sends a limit under a wrong name would believe in it."""
    opened = service(FakeEngine(), Tenant())
    refused = said(await call(opened, tool, **arguments))
    assert words in refused
    assert "\n" not in refused
    assert "secret" not in refused
    assert opened.pgs.asked == []  # type: ignore[attr-defined]


async def test_every_limit_reaches_the_engine_under_the_name_of_its_setting() -> None:
    opened = service(FakeEngine(), Tenant(), most_wait_s=0.05)
    limits = {"max_calls": 3, "max_tokens": 9000, "max_sweep_partitions": 2}
    await call(opened, "ask", question="Why?", wait_s=0, **limits)
    ((_, asked),) = opened.pgs.asked  # type: ignore[attr-defined]
    assert limits.items() <= asked.items()
    await opened.questions.live.stop()


async def test_every_argument_is_described_and_only_what_is_there_is_advertised() -> None:
    async with Client(create_server(service(FakeEngine()))) as agent:
        tools = (await agent.list_tools()).tools
        assert len(tools) == 10
        for tool in tools:
            assert tool.input_schema["additionalProperties"] is False
            assert tool.description
            for name, schema in tool.input_schema["properties"].items():
                assert schema.get("description"), (tool.name, name)
        assert agent.server_capabilities.prompts is None
        assert agent.server_capabilities.tools is not None
        with pytest.raises(MCPError, match="Method not found"):
            await agent.list_prompts()
