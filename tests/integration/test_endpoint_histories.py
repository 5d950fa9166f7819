"""Whatever happens to the calls of a run, its coverage is what its model was given."""

from __future__ import annotations

from contextlib import suppress

import pytest

from pgs_neo4j.database.connection import Database
from pgs_neo4j.errors import PGSError
from tests.conftest import Endpoint
from tests.database import alter
from tests.engines import with_model
from tests.fakes.histories import History
from tests.fakes.openai_server import Answer as Reply
from tests.fakes.openai_server import FakeOpenAI, contract_answer
from tests.graphs import papers
from tests.thorough import tries

SIZE = 16
LENGTHEN = (
    "MATCH (p:Paper) SET p.abstract = p.abstract + "
    "reduce(t = '', i IN range(1, 55) | t + ' clay ' + p.doi + ' and slip ' + i + ' met at dawn') "
    "+ ' end'"
)
NEW_RUNS = """
MATCH (r:PgsRun) WHERE NOT r.id IN $seen
OPTIONAL MATCH (r)-[:PGS_SWEPT]->(w:PgsSweep)-[:PGS_READ]->(p:PgsPartition)<-[m:PGS_IN]-(n:Paper)
WHERE any(i IN range(0, size(w.read_first) - 1) WHERE w.read_first[i] <= m.rank < w.read_last[i])
RETURN r.id AS run, collect(DISTINCT n.abstract) AS texts
"""
MOST_REFUSED = 0.005
# Of a model that repeats no codes, a prompt that just fills the context is asked for again in
# halves: it cannot be told from one that was cut to it.
MOST_REFUSED_MUTE = 0.1


@pytest.mark.usefixtures("no_waits")
async def test_coverage_is_what_was_given_whatever_happens(
    endpoint: Endpoint, db: Database
) -> None:
    mapping = await papers(db, 1, SIZE)
    await alter(db, LENGTHEN)
    seen: list[str] = []
    wrong: list[tuple[int, str]] = []
    told_wrongly, read = [], 0
    true, refused = [0, 0], [0, 0]  # of models that repeat codes, and of others
    with FakeOpenAI(default=Reply(contract_answer)) as fake:
        async with with_model(endpoint, fake) as pgs:
            await pgs.add_graph("papers", mapping)
        for seed in range(tries(20, 200)):
            fake.refuse = history = History(seed)
            told: int | None = None
            passes = {"max_pass_tokens": 3_000} if seed % 2 else {}
            # What an engine has learned of a model stays with it, so each history has one.
            async with with_model(endpoint, fake, **passes) as pgs:
                with suppress(PGSError):
                    answer = await pgs.execute("Why?", graph="papers", full_sweep=True, cache=False)
                    told = answer.own_coverage.nodes_read
            _, rows = await db.call(NEW_RUNS, {"seen": seen}, "read")
            (row,) = rows
            seen.append(row["run"])
            if told not in (None, len(row["texts"])):
                told_wrongly.append(seed)
            wrong += [(seed, text[:40]) for text in row["texts"] if not history.gave(text)]
            true[history.mute] += history.true
            refused[history.mute] += history.again
            read += len(row["texts"])
    assert wrong == []
    assert told_wrongly == []
    assert refused[0] <= max(1, MOST_REFUSED * true[0]), (refused, true)
    assert refused[1] <= max(1, MOST_REFUSED_MUTE * true[1]), (refused, true)
    assert read > len(seen) * SIZE / 2  # most of them end well
