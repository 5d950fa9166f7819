"""Many questions at a time leave the event loop free and the memory flat."""

from __future__ import annotations

import pytest

from pgs_neo4j.engine import PGS
from pgs_neo4j.local import LocalOptions, ensure_running
from tests.bench import soak
from tests.bench.lag import MOST_P99_S
from tests.bench.soak import Soak

MINUTES, QUESTIONS = 0.75, 12


@pytest.mark.thorough
async def test_questions_block_nothing_and_leave_nothing(pgs: PGS, options: LocalOptions) -> None:
    server = await ensure_running(options)
    async with (
        soak.slow_endpoint() as base_url,
        PGS.connect(
            neo4j_uri=server.uri,
            neo4j_user=server.user,
            neo4j_password=server.password,
            llm_provider="openai",
            llm_base_url=base_url,
            llm_api_key="soak",
            embedder="none",
            cache=False,
        ) as busy,
    ):
        load = Soak(busy, pgs.db, graph="papers")
        await load.run(MINUTES, QUESTIONS)
        growth, left = soak.growth(load.looks), await load.look()
    assert not load.errors
    assert load.done >= QUESTIONS
    assert load.meter.lag().p99_s <= MOST_P99_S
    assert growth["growth"] < soak.MOST_GROWTH
    assert left.tasks <= load.looks[0].tasks
