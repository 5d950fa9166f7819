"""Coverage and absences speak of text: nodes without it count for structure only."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pgs_neo4j.database.connection import Database
from pgs_neo4j.errors import NoTextError, UsageError
from pgs_neo4j.export.json_text import answer_data
from pgs_neo4j.model import AbsenceStatus, Prompt
from tests.conftest import Endpoint
from tests.database import alter, fetch
from tests.engines import KNOBS, engine_on
from tests.graphs import MAPPING, papers

REPORT = (
    "## Domain State\nPapers.\n## Findings\n- a paper [n1]\n## Outbound Flags\n- none\n"
    "## Absences\n- no mention of walruses\n- no mention of catalysis"
)
ANSWER = "## Thesis\nPapers [P1:n1].\n## Absences\n- walruses"


def reply(prompt: Prompt) -> str:
    return REPORT if prompt.task == "sweep" else ANSWER


async def test_a_graph_without_text_is_refused_unless_its_structure_is_asked(
    db: Database, endpoint: Endpoint
) -> None:
    await papers(db)
    await alter(db, "MATCH (p:Paper) SET p.vector = [0.5, 0.25, 1.0]")
    texts: tuple[tuple[str, ...], ...] = ((), ("nothing",), ("vector",))
    async with engine_on(endpoint, reply, **KNOBS) as pgs:
        for text in texts:
            await pgs.graphs.add("papers", replace(MAPPING, text=text), replace=True)
            for ask in (pgs.execute, pgs.plan, pgs.layered_search):
                with pytest.raises(NoTextError, match=r"nothing to read.*--structure-only"):
                    await ask("What about walruses?")
        with pytest.raises(NoTextError):
            await pgs.execute("What about walruses?", idempotency_key="k")
        assert await pgs.sessions() == []
        plan = await pgs.plan("walruses", full_sweep=True, structure_only=True)
        assert len(plan.sweeps) == 4

        answer = await pgs.execute(
            "walruses", full_sweep=True, structure_only=True, idempotency_key="k"
        )
        assert {a.status for a in answer.crosscheck.absences} == {AbsenceStatus.UNCHECKED}
        for coverage in (answer.coverage, answer.own_coverage):
            assert coverage is not None
            assert (coverage.nodes_read, coverage.texts_read, coverage.texts_total) == (160, 0, 0)
            assert coverage.fraction == 0.0
        again = await pgs.execute(
            "walruses", full_sweep=True, structure_only=True, idempotency_key="k"
        )
        assert again.run == answer.run
        assert answer_data(await pgs.runs.answer(answer.run)) == answer_data(answer)
        (info,) = await pgs.sessions()
        assert info.coverage == answer.coverage
        assert (await pgs.runs.latest()).structure_only
        document = await pgs.runs.document(answer.run)
        assert {(area.texts, area.texts_read) for area in document.areas} == {(0, 0)}
    rows = await fetch(db, "MATCH (a:PgsAbsence) RETURN DISTINCT a.status AS status")
    assert [row["status"] for row in rows] == ["unchecked"]


@pytest.mark.thorough
async def test_nodes_without_text_among_others_count_for_structure(
    db: Database, endpoint: Endpoint
) -> None:
    await papers(db)
    # Every second paper has no text, and one has only what no prompt shows.
    await alter(db, "MATCH (p:Paper) WHERE p.score % 2 = 0 REMOVE p.abstract")
    await alter(db, "MATCH (p:Paper {doi: 'doi/1'}) SET p.abstract = '\u0001'")
    async with engine_on(endpoint, reply, **KNOBS) as pgs:
        await pgs.graphs.add("papers", MAPPING)
        with pytest.raises(UsageError, match=r"80 nodes .* have text"):
            await pgs.execute("walruses", structure_only=True)
        first = await pgs.execute("walruses", full_sweep=True)
        coverage = first.coverage
        assert (coverage.nodes_read, coverage.nodes_total) == (160, 160)
        assert coverage.texts_total == 80
        by_status = {a.status: a for a in first.crosscheck.absences}
        confirmed = by_status[AbsenceStatus.CONFIRMED]
        assert (confirmed.searched, confirmed.texts) == (160, 80)
        assert AbsenceStatus.CONTRADICTED in by_status
        # The same after a repartition.
        await pgs.partitions.build(force=True)
        assert await pgs.sessions.coverage("default", "papers") == coverage
