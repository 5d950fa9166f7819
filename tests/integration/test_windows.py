"""What a run counts as read was given to the model, whatever its server does with long prompts."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import pytest

from pgs_neo4j.database.connection import Database
from pgs_neo4j.engine import PGS
from pgs_neo4j.model import Answer
from tests.conftest import Endpoint
from tests.database import alter
from tests.engines import model_on_papers
from tests.fakes.openai_server import Answer as Reply
from tests.fakes.openai_server import FakeOpenAI, contract_answer
from tests.fakes.windows import Window

LENGTHEN = (
    "MATCH (p:Paper) SET p.abstract = p.abstract + "
    "reduce(t = '', i IN range(1, $words) | t + ' clay and slip met the kiln at dawn') + ' end'"
)
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


async def wrongly_read(db: Database, window: Window) -> list[str]:
    """Texts that count as read, and that the model was not given as a whole."""
    _, rows = await db.call(READ, {}, "read")
    return [row["text"][:60] for row in rows if f"| {row['text']}" not in window.given]


async def ask(pgs: PGS, **options: object) -> Answer:
    return await pgs.execute("Why?", full_sweep=True, **options)


@pytest.mark.parametrize("context", [4_096, 8_192])
@pytest.mark.parametrize("cut", ["refuse", "head", "tail", "middle"])
async def test_all_is_read_in_passes_that_fit(endpoint, db, fake, cut, context):
    window = Window(context, cut)
    async with on_window(endpoint, db, fake, window) as pgs:
        answer = await ask(pgs)
        assert answer.coverage.nodes_read == answer.coverage.nodes_total == 80
        assert await wrongly_read(db, window) == []
        assert not answer.partial
