"""Many questions at a time leave the event loop free and the memory flat."""

from __future__ import annotations

import pytest

from pgs_neo4j.database.connection import Database
from pgs_neo4j.engine import PGS
from tests.bench import soak
from tests.bench.lag import MOST_P99_S
from tests.bench.soak import Soak
from tests.conftest import Endpoint
from tests.graphs import papers

MINUTES, QUESTIONS, LOOK_S = 0.3, 12, 0.5


@pytest.mark.nightly
async def test_questions_block_nothing_and_leave_nothing(
    endpoint: Endpoint, db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(soak, "LOOK_S", LOOK_S)
    async with (
        soak.slow_endpoint() as base_url,
        PGS.connect(
            neo4j_uri=endpoint.uri,
            neo4j_user=endpoint.user,
            neo4j_password=endpoint.password,
            llm_provider="openai",
            llm_base_url=base_url,
            llm_api_key="soak",
            embedder="none",
            cache=False,
        ) as busy,
    ):
        await busy.graphs.add("papers", await papers(db))
        await busy.execute("What is known?", graph="papers")  # what is made once is there
        load = Soak(busy, db, graph="papers")
        await load.run(MINUTES, QUESTIONS)
        growth, left = soak.growth(load.looks), await load.look()
    assert not load.errors
    assert load.done >= QUESTIONS
    assert load.meter.lag().p99_s <= MOST_P99_S
    assert growth["growth"] < soak.MOST_GROWTH
    assert left.tasks <= load.looks[0].tasks
