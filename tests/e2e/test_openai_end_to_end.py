"""The real client against a fake OpenAI-compatible endpoint, the whole way of a question."""

import logging

import pytest

from pgs_neo4j.errors import AllSweepsFailedError
from pgs_neo4j.events import TextStreamed
from tests.engines import model_on_papers
from tests.fakes.openai_server import Answer, FakeOpenAI, Status, contract_answer

KEY = "sk-hunter2-never-to-be-seen"


@pytest.fixture
def fake():
    with FakeOpenAI(default=Answer(contract_answer)) as running:
        yield running


async def stored_text(db):
    every = "MATCH (x) UNWIND keys(x) AS k RETURN collect(toStringOrNull(x[k])) AS texts"
    _, rows = await db.call(every, {}, "read")
    return "\n".join(text for text in rows[0]["texts"] if text)


async def test_sweeps_and_synthesis_go_to_their_models_and_the_key_goes_nowhere(
    endpoint, db, fake, caplog
):
    caplog.set_level(logging.INFO)
    events = []
    async with model_on_papers(endpoint, db, fake, llm_api_key=KEY) as engine:
        answer = await engine.execute("What is missing?", on_event=events.append)
        assert KEY not in repr(engine)
    assert not answer.partial
    assert answer.coverage.exhausted
    assert answer.model == "reader / writer"
    models = [chat.body["model"] for chat in fake.chats]
    assert models == ["reader"] * 4 + ["writer"]
    assert fake.chats[-1].body["stream"] is True
    assert all(chat.headers["authorization"] == f"Bearer {KEY}" for chat in fake.chats)
    assert all(citation.valid for citation in answer.synthesis.citations)
    assert answer.synthesis.citations
    assert sum(isinstance(event, TextStreamed) for event in events) > 1
    assert answer.usage.calls == len(fake.chats) + len(fake.settling) == 6
    assert not answer.usage.estimated
    assert KEY not in await stored_text(db)
    assert KEY not in caplog.text
    assert KEY not in repr(answer)


async def test_a_refused_key_names_what_to_set_and_not_the_key(endpoint, db, fake):
    fake.default = Status(401, message=f"Incorrect API key provided: {KEY}")
    async with model_on_papers(endpoint, db, fake, topics=2, llm_api_key=KEY) as engine:
        with pytest.raises(AllSweepsFailedError) as caught:
            await engine.execute("What is missing?")
    assert KEY not in str(caught.value)
    assert "PGS_LLM_API_KEY" in str(caught.value)
    assert KEY not in await stored_text(db)
