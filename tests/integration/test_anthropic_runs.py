"""Runs whose models are asked through Anthropic's interface, on a real database."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
from pydantic import SecretStr

from pgs_neo4j.database.connection import Database
from pgs_neo4j.engine import PGS
from pgs_neo4j.events import TextStreamed
from pgs_neo4j.llm.anthropic.chat import AnthropicLLM
from pgs_neo4j.llm.openai.endpoint import Endpoint as ModelEndpoint
from tests.conftest import Endpoint
from tests.database import fetch
from tests.engines import KNOBS
from tests.fakes.anthropic_server import KEY, FakeAnthropic, Said, Served, as_chat, prompt_of
from tests.fakes.openai_server import Body, contract_answer
from tests.graphs import papers

PRICE, OUTPUT_PRICE = 3.0, 15.0
SMALL = Served(context=9_000, most_output=4_000, thinking=("adaptive", "enabled"))


@pytest.fixture
async def fake() -> AsyncIterator[FakeAnthropic]:
    async with FakeAnthropic() as server:
        yield server


@pytest.mark.parametrize("described", [True, False])
async def test_a_full_sweep_reads_all_and_costs_what_was_billed(
    endpoint: Endpoint, db: Database, fake: FakeAnthropic, described: bool
) -> None:
    given: list[str] = []

    def answer_prompt(body: Body) -> str:
        given.append(prompt_of(body))
        return contract_answer(as_chat(body))

    fake.default = Said(answer_prompt, thinking="Let me see.", pieces=7)
    fake.models = {
        "reader-1": replace(SMALL, described=described),
        "writer-1": Served(thinking=("enabled",), described=described),
    }
    at = ModelEndpoint(fake.base_url, SecretStr(KEY), 60.0)
    priced = {
        "input_price": PRICE,
        "output_price": OUTPUT_PRICE,
        "cached_input_price": PRICE / 10,
        "cache_write_price": PRICE * 1.25,
    }
    heard: list[str] = []
    reader = AnthropicLLM("reader", at, served_as="reader-1", caches="nodes")
    writer = AnthropicLLM("writer", at, served_as="writer-1")
    async with PGS.connect(
        neo4j_uri=endpoint.uri,
        neo4j_user=endpoint.user,
        neo4j_password=endpoint.password,
        sweep_llm=reader,
        synthesis_llm=writer,
        models={"reader": priced, "writer": priced},
        max_cost=5.0,
        **KNOBS | {"target_partition_max": 200},
    ) as engine:
        await engine.graphs.add("papers", await papers(db, 3, 60))
        answer = await engine.execute(
            "Why?",
            full_sweep=True,
            sweep_effort="low",
            on_event=lambda event: (
                heard.append(event.text) if isinstance(event, TextStreamed) else None
            ),
        )
        # Once the endpoint has counted whole prompts, they need no codes any more.
        await engine.execute("How?", full_sweep=True, cache=False)
        before = replace(fake.ledger)
        again = await engine.execute("When?", full_sweep=True, cache=False)
    await reader.close()
    await writer.close()
    assert not answer.partial
    assert answer.coverage.exhausted
    assert answer.coverage.nodes_read == answer.coverage.nodes_total == 180
    assert answer.coverage.nodes_unproven == 0
    texts = await fetch(db, "MATCH (p:Paper) RETURN p.abstract AS text")
    assert [row["text"] for row in texts if not any(row["text"] in said for said in given)] == []
    bill, usage = fake.ledger, again.usage
    assert usage.calls == bill.calls - before.calls
    assert usage.input_tokens == bill.input - before.input
    assert usage.output_tokens == bill.output - before.output
    assert usage.cache_write_tokens == bill.cache_writes - before.cache_writes
    # The nodes are those of the question before.
    reads = bill.cache_reads - before.cache_reads
    assert usage.cache_read_tokens == reads >= usage.input_tokens / 2
    uncached = usage.input_tokens - reads - usage.cache_write_tokens
    read = uncached + usage.cache_write_tokens * 1.25 + reads / 10
    expected = (read * PRICE + usage.output_tokens * OUTPUT_PRICE) / 1e6
    assert again.cost == pytest.approx(expected)
    assert len(heard) > 1  # pieces may wait for a check of the database
    assert "".join(heard).strip() == answer.text.strip()
    assert "Let me see" not in str(answer)
    streamed = [chat.body for chat in fake.chats if chat.body.get("stream")]
    assert streamed[-1]["thinking"]["type"] == "enabled"
    refused = len(fake.chats) - bill.calls
    assert refused == 0 if described else refused > 0
