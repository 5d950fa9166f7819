"""What a run counts as read was given to the model, whatever its server does with long prompts."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import pytest

from pgs_neo4j.database.connection import Database
from pgs_neo4j.engine import PGS
from pgs_neo4j.errors import NothingLeftError, PGSError
from pgs_neo4j.llm.calls.calls import Calls
from pgs_neo4j.llm.calls.proofs import OpenProof
from pgs_neo4j.llm.protocol import LLM
from pgs_neo4j.model import Answer, Completion, Prompt
from tests.conftest import Endpoint
from tests.database import alter
from tests.engines import model_on_papers, with_model
from tests.fakes.length_refusals import LENGTH_REFUSALS
from tests.fakes.ollama import FakeOllama
from tests.fakes.openai_server import Answer as Reply
from tests.fakes.openai_server import FakeOpenAI, contract_answer
from tests.fakes.windows import Window
from tests.fakes.wires import listed
from tests.graphs import count as count_nodes
from tests.reading import HISTORY_CLAUSES, READ_BY_RUN, SIZE, add_papers
from tests.thorough import tries

LENGTHEN = (
    "MATCH (p:Paper) SET p.abstract = p.abstract + "
    "reduce(t = '', i IN range(1, $words) | t + ' clay and slip met the kiln at dawn') + ' end'"
)
LENGTHEN_ONE = LENGTHEN.replace("(p:Paper)", "(p:Paper {topic: $topic})")
READ = """
MATCH (w:PgsSweep)-[:PGS_READ]->(p:PgsPartition)<-[m:PGS_IN]-(n:Paper)
WHERE any(i IN range(0, size(w.read_first) - 1) WHERE w.read_first[i] <= m.rank < w.read_last[i])
RETURN DISTINCT n.abstract AS text
"""


@pytest.fixture
def fake() -> Iterator[FakeOpenAI]:
    with FakeOpenAI(default=Reply(contract_answer)) as server:
        yield server


@asynccontextmanager
async def on_window(
    endpoint: Endpoint, db: Database, fake: FakeOpenAI, window: Window, **settings: object
) -> AsyncIterator[PGS]:
    fake.refuse = window
    async with model_on_papers(endpoint, db, fake, topics=2, **settings) as pgs:
        await alter(db, LENGTHEN, words=40)
        yield pgs


async def wrongly_read(db: Database, window: Window | FakeOllama, answer: Answer) -> list[str]:
    """Texts that count as read, and that the model was not given as a whole."""
    _, rows = await db.call(READ, {}, "read")
    assert len(rows) == answer.coverage.nodes_read
    return [row["text"][:60] for row in rows if not window.gave(row["text"])]


async def ask(pgs: PGS, **options: object) -> Answer:
    return await pgs.execute("Why?", full_sweep=True, **options)


# The others' words are those of a wire, over which test_wires sweeps.
OF_NO_WIRE = ("Cohere", "DeepInfra", "Bedrock", "Zhipu", "DashScope", "SGLang", "a gateway")


@pytest.mark.usefixtures("no_waits")
async def test_whoever_refuses_a_prompt_that_is_too_long_gets_shorter_ones(endpoint, db, fake):
    assert len(LENGTH_REFUSALS) >= 14
    chosen = LENGTH_REFUSALS if tries(0, 1) else OF_NO_WIRE
    await add_papers(endpoint, db, HISTORY_CLAUSES)
    wrong = {}
    for vendor in chosen:
        fake.refuse = window = Window(4_096, refusal=LENGTH_REFUSALS[vendor])
        async with with_model(endpoint, fake) as pgs:
            answer = await pgs.execute("Why?", graph="papers", full_sweep=True, cache=False)
        (swept,) = answer.sweeps
        _, rows = await db.call(READ_BY_RUN, {"run": answer.run}, "read")
        given = sum(window.gave(row["text"]) for row in rows)
        if answer.partial or swept.passes < 2 or (given, len(rows)) != (SIZE, SIZE):
            wrong[vendor] = (given, len(rows), swept.errors)
    assert wrong == {}


@pytest.mark.parametrize("context", [4_096, 8_192])
@pytest.mark.parametrize("cut", ["refuse", "head", "tail", "middle", "system", "shift"])
async def test_all_is_read_in_passes_that_fit(endpoint, db, fake, cut, context):
    window = Window(context, cut)
    async with on_window(endpoint, db, fake, window) as pgs:
        answer = await ask(pgs)
        assert await wrongly_read(db, window, answer) == []
        assert answer.coverage.nodes_read == answer.coverage.nodes_total == 80
        assert not answer.partial


async def test_a_pass_is_judged_by_the_prompt_that_was_sent(endpoint, db, fake, monkeypatch):
    """The first reply shows that the prompts of others need no codes, after they were made."""
    judged, keep = list[Prompt](), Calls.keep_proof

    async def note(calls: Calls, llm: LLM, prompt: Prompt, reply: Completion) -> OpenProof | None:
        judged.append(prompt)
        return await keep(calls, llm, prompt, reply)

    monkeypatch.setattr(Calls, "keep_proof", note)
    fake.pages = {"/api/v0/models": listed(loaded_context_length=4_096)}
    window = Window(4_096, "head")
    async with on_window(endpoint, db, fake, window, max_concurrent_calls=1) as pgs:
        answer = await ask(pgs)
    assert answer.coverage.nodes_read == 80
    sent = {str(chat.body["messages"][-1]["content"]) for chat in fake.chats}
    assert {prompt.user for prompt in judged} <= sent
    assert [bool(prompt.receipts) for prompt in judged[:2]] == [True, False]


def noisy(tokens: int) -> int:
    """Three percent more or less, by the size of the prompt."""
    return round(tokens * (1.03 if tokens % 2 else 0.97))


@pytest.mark.parametrize("cut", ["head", "tail", "middle", "shift"])
@pytest.mark.parametrize(
    ("repeats", "count"),
    [
        (False, lambda tokens: tokens),  # a weak model that ignores the request for codes
        (False, noisy),
        (True, noisy),
    ],
    ids=["mute", "mute, noisy", "noisy"],
)
async def test_a_cut_shows_in_the_tokens(endpoint, db, fake, cut, repeats, count):
    # Partitions are of different sizes on each database. One prompt is twice as long in any case,
    # which even the fewest tokens that a text can have show.
    context = 4_096 if cut == "shift" else 2_048
    window = Window(context, cut, repeats=repeats, count=count)
    async with on_window(endpoint, db, fake, window) as pgs:
        answer = await ask(pgs)
        assert await wrongly_read(db, window, answer) == []
        assert answer.coverage.nodes_read == 80


async def test_a_cut_that_shows_only_later_is_asked_again_in_parts(endpoint, db, fake):
    """A few percent are missing from a prompt before a longer one shows what the server cuts."""
    fake.refuse = window = Window(4_096, "head", repeats=False)
    async with model_on_papers(endpoint, db, fake, topics=2, max_concurrent_calls=1) as pgs:
        for topic, words in enumerate((18, 90)):
            await alter(db, LENGTHEN_ONE, topic=topic, words=words)
        # A limit on calls lets them be made in the order of the question.
        answer = await pgs.execute("Is ammonia made by catalysis?", full_sweep=True, max_calls=40)
        assert await wrongly_read(db, window, answer) == []
        assert (answer.coverage.nodes_read, answer.coverage.nodes_unproven) == (80, 0)


# Without tokens, what vanishes between two codes cannot be noticed, so no cut is in the middle.
@pytest.mark.parametrize("cut", ["head", "tail"])
@pytest.mark.parametrize(
    "count",
    [
        lambda tokens: None,
        lambda tokens: -1,
        lambda tokens: 10**18,
        lambda tokens: "many",
        lambda tokens: 12,  # the new part of a prompt whose rest is cached
    ],
    ids=["none", "negative", "huge", "text", "cached"],
)
async def test_a_cut_shows_in_the_receipts(endpoint, db, fake, cut, count):
    window = Window(4_096, cut, count=count)
    async with on_window(endpoint, db, fake, window) as pgs:
        answer = await ask(pgs)
        assert await wrongly_read(db, window, answer) == []
        assert answer.coverage.nodes_read == 80


async def test_what_nothing_can_show_is_shown_and_not_read(endpoint, db, fake):
    window = Window(10**6, "tail", repeats=False, count=lambda tokens: None)
    async with on_window(endpoint, db, fake, window) as pgs:
        answer = await ask(pgs)
        assert answer.coverage.nodes_read == 0
        assert answer.coverage.nodes_unproven == 80
        assert sum("nothing proves" in warning for warning in answer.warnings) == 1
        asked = len(fake.chats)
        with pytest.raises(NothingLeftError, match=r"read 0 of 80 nodes .* without proof"):
            await pgs.execute("Why?", mode="continue")
        assert len(fake.chats) == asked  # what was shown is not bought again


async def test_a_node_longer_than_the_context_is_read_in_parts(endpoint, db, fake):
    window = Window(4_096, "head")
    async with on_window(endpoint, db, fake, window) as pgs:
        await alter(
            db,
            "MATCH (p:Paper) WITH p ORDER BY p.doi LIMIT 1 SET p.abstract = "
            "reduce(t = '', i IN range(1, 3000) | t + ' word' + i)",
        )
        answer = await ask(pgs)
        assert await wrongly_read(db, window, answer) == []
        assert answer.coverage.nodes_read == 80


@pytest.mark.parametrize("cut", ["refuse", "tail"])
async def test_a_context_too_small_for_anything_ends_with_one_sentence(endpoint, db, fake, cut):
    window = Window(256, cut)
    async with on_window(endpoint, db, fake, window) as pgs:
        with pytest.raises(PGSError, match=r"context|cut the prompt") as caught:
            await ask(pgs)
        assert str(caught.value).count(". ") == 0
        assert await count_nodes(db, "(x:PgsSweep) WHERE x.nodes_read > 0") == 0
        assert len(fake.chats) < 60
