"""An answer is read back as it was given, whatever became of the graph and of the session since."""

import asyncio
import json

import pytest

from pgs_neo4j.database.holder import Holder, this_machine, this_place
from pgs_neo4j.errors import (
    DatabaseError,
    ModelUnavailableError,
    NothingLeftError,
    PromptTooLongError,
)
from pgs_neo4j.events import Warned
from pgs_neo4j.export import AreaState, to_html, to_json, to_markdown
from pgs_neo4j.llm.calls.replies import Replies
from pgs_neo4j.llm.scripted import contract_reply
from pgs_neo4j.model import SweepStatus
from pgs_neo4j.pgs.runs import runs
from pgs_neo4j.pgs.runs.sweeps import read_unsynthesized
from tests.database import alter, fetch
from tests.engines import answering, asked, without_synthesis
from tests.graphs import count

OF_RUN = "(:PgsRun {id: $run})-[:PGS_SWEPT]->(:PgsSweep)<-[:PGS_FROM]-"


async def rows(db, query, **given):
    return await fetch(db, query, **given)


async def change(db, query, **given):
    await alter(db, query, **given)


async def last_run(db):
    query = "MATCH (r:PgsRun) RETURN r {.*} AS run ORDER BY r.started_at DESC LIMIT 1"
    return (await rows(db, query))[0]["run"]


def quoting(prompt):
    """A reader that quotes its first node to the letter, and another one that does not exist."""
    if prompt.task != "sweep":
        return contract_reply(prompt)
    node = prompt.nodes[0]
    return (
        f"## Domain State\nRead.\n\n## Findings\n- It says “{node.text}” [{node.alias}].\n"
        "- It says “there is nothing to be read here” [n2] [n9999].\n\n## Absences\nNone.\n"
    )


# The graph moves on


async def test_a_cited_node_that_is_gone_stays_a_valid_citation_and_is_told_as_gone(pgs, db):
    given = await pgs.execute("Why?", idempotency_key="k1")
    cited = given.synthesis.citations[0]
    await change(db, "MATCH (p:Paper {doi: $doi}) DETACH DELETE p", doi=cited.node)
    for found in (
        await pgs.runs.answer(given.run),
        await pgs.resume(given.run),
        await pgs.execute("Why?", idempotency_key="k1"),
    ):
        (same,) = [c for c in found.synthesis.citations if c.node == cited.node]
        assert (same, same.element_id) == (cited, None)
        others = [c for c in given.synthesis.citations if c.node != cited.node]
        assert [c for c in found.synthesis.citations if c.node != cited.node] == others
        for one, other in zip(found.sweeps, given.sweeps, strict=True):
            assert one.report == other.report
        assert all(f.supported for s in found.sweeps for f in s.report.findings)
    document = await pgs.runs.document(given.run)
    gone = [each for each in document.sources if each.text is None]
    assert [(each.key, each.title) for each in gone] == [(cited.node, cited.title)]
    text = to_markdown(document)
    assert "no longer in the graph" in text
    assert "Invalid citations" not in text
    told = json.loads(to_json(document))
    assert told["checks"]["unsupported_findings"] == told["checks"]["invalid_citations"] == 0
    page = to_html(document)
    assert "no report cites this node" not in page
    assert "This node is no longer in the graph" in page


async def test_a_true_quotation_stays_one_after_its_node_was_edited(pgs, db):
    answering(pgs, quoting)
    given = await pgs.execute("Why?")
    verdicts = [[q.found for f in s.report.findings for q in f.quotes] for s in given.sweeps]
    assert verdicts == [[True, False]] * 4
    await change(db, "MATCH (p:Paper) SET p.abstract = 'Rewritten.', p.title = 'New'")
    found = await pgs.runs.answer(given.run)
    assert [s.report for s in found.sweeps] == [s.report for s in given.sweeps]
    assert found.synthesis.citations == given.synthesis.citations
    document = await pgs.runs.document(given.run)
    assert all(each.changed for each in document.sources)


async def test_reports_that_wait_for_a_synthesis_keep_their_verdicts(pgs, db):
    answering(pgs, without_synthesis(quoting))
    with pytest.raises(ModelUnavailableError):
        await pgs.execute("Why?")
    run = await runs.read(pgs.db, (await last_run(db))["id"])
    query = "MATCH (:PgsFinding {place: 0})-[:PGS_CITES]->(p:Paper) DETACH DELETE p"
    await change(db, query)
    waiting = await read_unsynthesized(db, "papers", "default", "r0", run.generation)
    assert [each.key for each in waiting] == [f"{run.id}:{number}" for number in (1, 2, 3, 4)]
    assert {each.sweep.run for each in waiting} == {run.id}
    told = [finding for each in waiting for finding in each.sweep.report.findings]
    assert [f.supported for f in told] == [True] * 8
    assert [q.found for f in told for q in f.quotes] == [True, False] * 4


# One stored form


def failing_on_the_second(prompt):
    if prompt.partition == 2:
        return ModelUnavailableError("500")
    return quoting(prompt)


def failing_in_part(prompt):
    """Fails all passes of a partition but its first."""
    if prompt.partition == 2 and "n1" not in {node.alias for node in prompt.nodes}:
        return ModelUnavailableError("500")
    return contract_reply(prompt)


CASES = {
    "whole": (contract_reply, {}, SweepStatus.ACCEPTED),
    "quoting": (quoting, {"max_sweep_partitions": 2}, SweepStatus.ACCEPTED),
    "partial": (failing_on_the_second, {}, SweepStatus.FAILED),
    "in part": (failing_in_part, {"max_pass_characters": 6000}, SweepStatus.PARTIAL),
    "stopped": (quoting, {"max_calls": 3}, SweepStatus.UNREAD),
}


async def test_a_stored_answer_reads_back_equal_to_the_one_given(pgs, db):
    for name, (answer, knobs, status) in CASES.items():
        answering(pgs, answer)
        for again in (False, True):  # with replies from the cache
            given = await pgs.execute(f"Why {name}?", session_id=name, **knobs)
            assert again or status in {sweep.status for sweep in given.sweeps}, name
            assert given.synthesis.connections, name
            stored = await pgs.runs.answer(given.run)
            assert stored == given, name
            assert element_ids(stored) == element_ids(given), name
            assert "element_id" not in (await last_run(db))["details"]


def element_ids(answer):
    """Those of all citations, which do not count when citations are compared."""
    reports = [sweep.report for sweep in answer.sweeps if sweep.report]
    cited = [*answer.synthesis.citations, *(c for report in reports for c in report.citations)]
    return [citation.element_id for citation in cited]


# The session moves on


async def test_the_map_shows_what_was_read_when_the_answer_was_given(pgs):
    first = await pgs.execute("Why?", max_sweep_partitions=1)
    await pgs.execute("And?", mode="continue")
    document = await pgs.runs.document(first.run)
    assert sum(area.nodes_read for area in document.areas) == first.coverage.nodes_read == 40
    states = [area.state for area in document.areas]
    assert (states.count(AreaState.READ), states.count(AreaState.UNREAD)) == (1, 3)


async def test_a_partition_that_was_read_after_its_run_had_answered_is_listed_once(pgs):
    stopped = await pgs.execute("Why?", max_calls=3)
    assert [s.status for s in stopped.sweeps].count(SweepStatus.UNREAD) == 2
    answering(pgs, without_synthesis())
    with pytest.raises(ModelUnavailableError):
        await pgs.resume(stopped.run)
    found = await pgs.runs.answer(stopped.run)
    assert sorted(s.partition for s in found.sweeps) == [1, 2, 3, 4]
    assert {s.status for s in found.sweeps} == {SweepStatus.ACCEPTED}


# Runs that were killed


async def killed(db, holder, ago):
    """Make the last run look like one whose process is no more, or seems to be."""
    query = (
        "MATCH (r:PgsRun {id: $id}) SET r.status = 'running', r.holder = $holder, "
        "r.updated_at = datetime() - duration($ago)"
    )
    await change(db, query, id=(await last_run(db))["id"], holder=holder, ago=ago)


@pytest.mark.parametrize(
    "noticed", ["silent", "dead", pytest.param("", marks=pytest.mark.thorough)]
)
async def test_reports_of_a_killed_run_are_part_of_what_continues_it(pgs, db, noticed):
    """One that may continue is waited for, and its reports are its own."""
    answering(pgs, without_synthesis())
    with pytest.raises(ModelUnavailableError):
        await pgs.execute("Why?", full_sweep=True)
    ended = await asyncio.create_subprocess_exec("true")
    await ended.wait()
    here = str(Holder(this_machine(), ended.pid, "0a1b2c3d", this_place()))
    ago = {"silent": "PT5M", "dead": "PT0S", "": "PT20S"}[noticed]
    await killed(db, here if noticed == "dead" else "elsewhere, pid 1, 00", ago)
    answering(pgs, contract_reply)
    asked(pgs)
    if not noticed:
        with pytest.raises(NothingLeftError):
            await pgs.execute("Why?", mode="continue")
        assert asked(pgs) == []
        return
    answer = await pgs.execute("Why?", mode="continue")
    (told,) = [warning for warning in answer.warnings if "earlier runs" in warning]
    assert "4 reports of" in told
    (prompt,) = asked(pgs)
    assert sorted(shown.name for shown in prompt.reports) == ["P1", "P2", "P3", "P4"]
    assert answer.coverage.exhausted


# Two reports on one partition


SAME = "- Promoters lower the activation energy of dinitrogen"


async def test_what_was_found_of_an_earlier_report_is_written_beside_its_own_bullets(pgs, db):
    def first(prompt):
        if len(prompt.nodes) > 20 and prompt.partition == 1:
            return PromptTooLongError("longer than the model's context")
        if prompt.partition == 1 and prompt.nodes[0].alias != "n1":
            return ModelUnavailableError("500")
        said = f"{SAME} [n1]" if prompt.partition in (1, 2) else "- Nothing much [n1]"
        return report(said, "No node mentions fact3.")

    def report(findings, absence):
        return f"## Domain State\nRead.\n\n## Findings\n{findings}\n\n## Absences\n- {absence}\n"

    def second(prompt):
        if prompt.task != "sweep":
            return contract_reply(prompt)
        return report("- Tea is traded [n30]", "Nothing on quantum annealing.")

    answering(pgs, without_synthesis(first))
    with pytest.raises(ModelUnavailableError):
        await pgs.execute("Why?", full_sweep=True)
    former = (await last_run(db))["id"]
    answering(pgs, second)
    asked(pgs)
    answer = await pgs.execute("Why?", mode="continue")
    assert [p.partition for p in asked(pgs)] == [1, None]
    found = "RETURN x.text AS text, x.status AS status, count(*) AS n ORDER BY text"
    absences = f"MATCH {OF_RUN}(x:PgsAbsence) {found}"
    assert [(r["text"][:15], r["status"]) for r in await rows(db, absences, run=answer.run)] == [
        ("Nothing on quan", "confirmed")
    ]
    assert {(r["text"][:15], r["status"]) for r in await rows(db, absences, run=former)} == {
        ("No node mention", "contradicted")
    }
    sightings = "(x:PgsAbsence {status: 'confirmed'})-[:PGS_SEEN_IN]->(:Paper)"
    assert await count(db, sightings) == 0
    joined = await rows(
        db, "MATCH (:PgsConvergence {kind: 'words'})-[:PGS_JOINS]->(f) RETURN f.text AS text"
    )
    assert [row["text"] for row in joined] == [f"{SAME[2:]} [n1]"] * 2
    assert (await pgs.runs.answer(answer.run)).crosscheck == answer.crosscheck


# Stored replies


@pytest.mark.thorough
async def test_what_a_run_that_may_go_on_has_paid_for_is_not_trimmed(pgs, db):
    answering(pgs, without_synthesis())
    with pytest.raises(ModelUnavailableError):
        await pgs.execute("Why?")
    crashed = (await last_run(db))["id"]
    answering(pgs, contract_reply)
    await pgs.execute("Why not?", cache_mb=1e-6)
    left = await rows(db, "MATCH (r:PgsReply) RETURN DISTINCT r.run AS run")
    assert left == [{"run": crashed}]
    asked(pgs)
    await pgs.resume(crashed)
    assert [p.task for p in asked(pgs)] == ["synthesis"]
    await pgs.execute("How?", cache_mb=1e-6)  # nobody needs them any more
    assert await count(db, "(x:PgsReply)") == 0


async def test_an_answer_stays_complete_when_the_replies_cannot_be_tidied_up(pgs, db, monkeypatch):
    async def fail(self, cache_mb, *, done):
        raise DatabaseError("no memory")

    told = []
    monkeypatch.setattr(Replies, "tidy", fail)
    answer = await pgs.execute("Why?", on_event=told.append)
    assert answer.text
    assert (await last_run(db))["status"] == "complete"
    warned = [event.message for event in told if isinstance(event, Warned)]
    assert warned[-1] == "old replies could not be removed from the reply cache: no memory"


async def test_a_run_that_is_cancelled_after_its_answer_was_recorded_stays_complete(
    pgs, db, monkeypatch
):
    finish = runs.finish

    async def cancelled(*given, **named):
        done = await finish(*given, **named)
        asyncio.current_task().cancel()
        return done

    monkeypatch.setattr(runs, "finish", cancelled)
    with pytest.raises(asyncio.CancelledError):
        await asyncio.create_task(pgs.execute("Why?"))
    stored = await last_run(db)
    assert stored["status"] == "complete"
    assert stored.get("error") is None
