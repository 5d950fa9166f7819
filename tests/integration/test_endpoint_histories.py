"""Whatever happens to the calls of a run, its coverage is what its model was given.

With ``--thorough``, a run lives through two hundred histories, most of them at night.
"""

from __future__ import annotations

import pytest

from pgs_neo4j.database.connection import Database
from tests.conftest import Endpoint
from tests.fakes.openai_server import FakeOpenAI
from tests.reading import HISTORY_CLAUSES, MOST_REFUSED, SIZE, add_papers, try_history
from tests.thorough import histories, in_two_parts

SEEDS = in_two_parts(histories(30, thorough=200), first=60)


@pytest.mark.usefixtures("no_waits")
@pytest.mark.parametrize("seeds", SEEDS)
async def test_coverage_is_what_was_given_whatever_happens(
    endpoint: Endpoint, db: Database, fake: FakeOpenAI, seeds: range
) -> None:
    await add_papers(endpoint, db, HISTORY_CLAUSES)
    lived = [await try_history(endpoint, db, fake, seed) for seed in seeds]
    assert [one for one in lived if not one.right] == []
    refused, true = sum(one.refused for one in lived), sum(one.true for one in lived)
    assert refused <= MOST_REFUSED * true, lived
    assert sum(one.read for one in lived) > len(lived) * SIZE / 2  # most of them end well
