"""The real client against a fake OpenAI-compatible endpoint, the whole way of a question."""

import logging

import pytest

from pgs_neo4j.engine import PGS
from pgs_neo4j.errors import AllSweepsFailedError, ModelAuthError
from pgs_neo4j.events import TextStreamed
from tests.fakes.openai_server import Answer, FakeOpenAI, Status, contract_answer
from tests.graphs import papers

KEY = "sk-hunter2-never-to-be-seen"
KNOBS = {"min_community_size": 10, "target_partition_max": 60, "embedder": "none"}


@pytest.fixture
def fake():
    with FakeOpenAI(default=Answer(contract_answer)) as running:
        yield running


def connect(endpoint, fake, **settings):
    return PGS.connect(
        neo4j_uri=endpoint.uri,
        neo4j_user=endpoint.user,
        neo4j_password=endpoint.password,
        llm_base_url=fake.base_url,
        llm_api_key=KEY,
        sweep_model="small",
        synthesis_model="large",
        **KNOBS | settings,
    )


async def stored_text(db):
    every = "MATCH (x) UNWIND keys(x) AS k RETURN collect(toStringOrNull(x[k])) AS texts"
    _, rows = await db.call(every, {}, "read")
    return "\n".join(text for text in rows[0]["texts"] if text)


async def test_sweeps_and_synthesis_go_to_their_models_and_the_key_goes_nowhere(
    endpoint, db, fake, caplog
):
    caplog.set_level(logging.INFO)
    mapping = await papers(db, isolates=2)
    events = []
    async with connect(endpoint, fake) as engine:
        await engine.add_graph("papers", mapping)
        answer = await engine.execute("What is missing?", on_event=events.append)
        assert KEY not in repr(engine)
    assert not answer.partial
    assert answer.coverage.exhausted
    assert answer.model == "small / large"
    models = [chat.body["model"] for chat in fake.chats]
    assert models == ["small"] * 5 + ["large"]
    assert fake.chats[-1].body["stream"] is True
    assert all(chat.headers["authorization"] == f"Bearer {KEY}" for chat in fake.chats)
    assert all(citation.valid for citation in answer.synthesis.citations)
    assert answer.synthesis.citations
    assert sum(isinstance(event, TextStreamed) for event in events) > 1
    assert answer.usage.calls == 6
    assert not answer.usage.estimated
    assert KEY not in await stored_text(db)
    assert KEY not in caplog.text
    assert KEY not in repr(answer)


async def test_rate_limits_and_server_errors_are_waited_out(endpoint, db, fake):
    mapping = await papers(db, topics=2)
    fake.script(Status(429, {"retry-after": "0.05"}), Status(500), Status(503), Status(429))
    async with connect(endpoint, fake, max_concurrent_sweeps=1) as engine:
        await engine.add_graph("papers", mapping)
        answer = await engine.execute("What is missing?")
    assert not answer.partial
    assert len(fake.chats) > answer.usage.calls


async def test_a_refused_key_names_what_to_set_and_not_the_key(endpoint, db, fake):
    mapping = await papers(db, topics=2)
    fake.default = Status(401, message=f"Incorrect API key provided: {KEY}")
    async with connect(endpoint, fake) as engine:
        await engine.add_graph("papers", mapping)
        with pytest.raises(AllSweepsFailedError) as caught:
            await engine.execute("What is missing?")
    assert KEY not in str(caught.value)
    assert "PGS_LLM_API_KEY" in str(caught.value)
    assert KEY not in await stored_text(db)


async def test_cut_off_reports_are_never_counted(endpoint, db, fake):
    mapping = await papers(db, topics=2)
    fake.default = Answer(contract_answer, finish_reason="length")
    async with connect(endpoint, fake) as engine:
        await engine.add_graph("papers", mapping)
        with pytest.raises(AllSweepsFailedError, match="cut off at"):
            await engine.execute("What is missing?")
        assert (await engine.coverage("papers", "default")).nodes_read == 0


async def test_without_a_key_the_public_endpoint_is_refused_at_once(endpoint, db):
    with pytest.raises(ModelAuthError, match="OPENAI_API_KEY"):
        async with PGS.connect(
            neo4j_uri=endpoint.uri,
            neo4j_user=endpoint.user,
            neo4j_password=endpoint.password,
            llm_provider="openai",
        ):
            raise AssertionError
