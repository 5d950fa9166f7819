"""Feedback on answers: the weights follow it exactly, and the user's graph does not."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator, Iterable
from dataclasses import replace
from itertools import permutations

import pytest

from pgs_neo4j.cli.pages import as_json
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.schema import read_change_token
from pgs_neo4j.engine import PGS
from pgs_neo4j.errors import BusyError, FeedbackError, UnknownRunError, UsageError
from pgs_neo4j.graph.scores import ALPHA, START
from pgs_neo4j.llm.scripted import contract_reply
from pgs_neo4j.model import Answer, Citation, Prompt
from pgs_neo4j.pgs.checking import check
from pgs_neo4j.pgs.runs.feedback import SCORES
from pgs_neo4j.text.citations import resolve_qualified
from tests.conftest import Endpoint
from tests.database import alter, fetch
from tests.engines import KNOBS, engine_on
from tests.graphs import MAPPING, checksum, count, papers

# One finding of each partition cites its two heaviest papers; they are connected in three ways
# that the mapping knows, and in one that it does not.
PARALLELS = """
MATCH (a:Paper {doi: 'doi/0'}), (b:Paper {doi: 'doi/1'})
CREATE (a)-[:EXTENDS {strength: 1.0}]->(b), (b)-[:CITES {strength: 1.0}]->(a), (a)-[:LIKES]->(b),
       (a)-[:CITES {strength: 1.0}]->(a), (a)-[:CITES {strength: 1.0}]->(b)
"""
# Copies of a run and its thesis, which cites the heaviest paper of each partition.
COPY = """
MATCH (r:PgsRun {id: $run})-[:PGS_RAN_IN]->(s), (t:PgsThesis)-[:PGS_FROM]->(r)
UNWIND $ids AS id
CREATE (c:PgsRun)-[:PGS_RAN_IN]->(s)
SET c = r {.*, id: id}
CREATE (u:PgsThesis {id: id + ':thesis', text: t.text})-[:PGS_FROM]->(c)
WITH t, u
MATCH (t)-[x:PGS_CITES]->(n)
CREATE (u)-[y:PGS_CITES]->(n)
SET y = properties(x)
"""
WEIGHTS = """
MATCH (w:PgsWeight)-[:PGS_ABOUT]->(n)
RETURN n.doi AS about, w.weight AS weight, w.count AS count
UNION ALL
MATCH (s)<-[:PGS_SOURCE]-(w:PgsTriplet)-[:PGS_TARGET]->(o)
RETURN s.doi + ' ' + w.type + ' ' + o.doi AS about, w.weight AS weight, w.count AS count
"""
HISTORIES = """
MATCH (r:PgsRun)-[k:PGS_RATED]->(w)
WITH w, r.outcome AS outcome ORDER BY k.place
RETURN elementId(w) AS weight, collect(outcome) AS outcomes
"""
HEADS = {"doi/0", "doi/40", "doi/80", "doi/120"}
BRIDGES = {"doi/0 CITES doi/40", "doi/40 CITES doi/80", "doi/80 CITES doi/120"}


def citing_together(prompt: Prompt) -> str:
    reply = contract_reply(prompt)
    if prompt.task != "sweep":
        return reply
    return reply.replace("## Findings\n", "## Findings\n- Both belong together [n1, n2].\n")


@pytest.fixture
async def pgs(endpoint: Endpoint, db: Database) -> AsyncIterator[PGS]:
    mapping = replace(await papers(db), relationship_types=("CITES", "EXTENDS"))
    await alter(db, PARALLELS)
    async with engine_on(endpoint, **KNOBS) as opened:
        opened.sweep_llm._answer = citing_together  # type: ignore[attr-defined]
        await opened.graphs.add("papers", mapping)
        yield opened


@pytest.fixture
async def answer(pgs: PGS) -> Answer:
    return await pgs.execute("What is missing?", graph="papers")


async def copies(db: Database, run: str, number: int) -> list[str]:
    ids = [f"r{place:012x}" for place in range(number)]
    await alter(db, COPY, run=run, ids=ids)
    return ids


async def weights(db: Database) -> dict[str, tuple[float, int]]:
    rows = await fetch(db, WEIGHTS)
    assert len({row["about"] for row in rows}) == len(rows)  # one of each
    return {row["about"]: (row["weight"], row["count"]) for row in rows}


def are_all(stored: dict[str, tuple[float, int]], weight: float, number: int) -> bool:
    """Whether all weights are the same, after the same number of outcomes."""
    return bool(stored) and all(
        one == pytest.approx(weight, abs=1e-12) and counted == number
        for one, counted in stored.values()
    )


def replayed(outcomes: Iterable[str]) -> float:
    """The moving average of outcomes in their order."""
    weight = START
    for outcome in outcomes:
        weight += ALPHA * (SCORES[outcome] - weight)  # type: ignore[index]
    return weight


def bullets(answer: Answer) -> list[set[str]]:
    """The keys of the nodes that each bullet of an answer cites."""
    synthesis = answer.synthesis
    valid = {(cited.partition, cited.alias): cited for cited in synthesis.citations if cited.valid}
    lists: list[Iterable[Citation]] = [
        resolve_qualified(text, valid)
        for text in (synthesis.thesis, *synthesis.connections, *synthesis.convergences)
    ]
    lists += [convergence.citations for convergence in answer.crosscheck.convergences]
    for sweep in answer.sweeps:
        assert sweep.report
        lists += [finding.citations for finding in sweep.report.findings]
        lists += [flag.citations for flag in sweep.report.flags]
    return [{cited.node or "" for cited in citations if cited.valid} for citations in lists]


async def relationships(db: Database) -> set[tuple[str, str, str]]:
    query = "MATCH (a:Paper)-[r]->(b:Paper) RETURN DISTINCT a.doi AS a, type(r) AS t, b.doi AS b"
    rows = await fetch(db, query)
    return {(row["a"], row["t"], row["b"]) for row in rows}


@pytest.mark.schema
@pytest.mark.thorough
async def test_what_is_cited_together_is_weighted_and_nothing_else_changes(
    pgs: PGS, db: Database, answer: Answer
) -> None:
    before, token = await checksum(db), await read_change_token(db)
    result = await pgs.runs.feedback(answer.run, "accepted", graph="papers")
    assert (result.changed, result.former, result.missing) == (True, None, 0)
    stored = await weights(db)
    assert are_all(stored, 0.55, 1)
    lists = bullets(answer)
    pairs = {pair for cited in lists for pair in permutations(cited, 2)}
    expected = {
        f"{a} {kind} {b}"
        for a, kind, b in await relationships(db)
        if (a, b) in pairs and kind != "LIKES"
    }
    assert {about for about in stored if " " in about} == expected
    assert {about for about in stored if " " not in about} == set().union(*lists)
    assert {"doi/0 CITES doi/1", "doi/1 CITES doi/0", "doi/0 EXTENDS doi/1"} <= expected
    assert expected >= BRIDGES
    assert (result.nodes, result.triplets) == (len(stored) - len(expected), len(expected))
    # The same again changes nothing.
    again = await pgs.runs.feedback(answer.run, "accepted")
    assert again == replace(result, former="accepted", changed=False)
    assert await weights(db) == stored
    (info,) = await pgs.runs("papers")
    assert info.outcome == "accepted"
    document = await pgs.runs.document(answer.run)
    stored_json = as_json.run(await pgs.runs.get(answer.run), document)
    assert json.loads(json.dumps(stored_json))["outcome"] == "accepted"
    # Neither the graph nor what is read of it has changed.
    assert await checksum(db) == before
    assert token is not None
    assert await read_change_token(db) == token
    drift = await pgs.partitions.check("papers")
    assert drift is not None
    assert pgs.partitions.outlook(drift) is None
    await pgs.purge()
    assert await checksum(db) == before
    assert await count(db, "(x) WHERE NOT x:Paper") == 0
    assert await count(db, "()-[x]-() WHERE type(x) STARTS WITH 'PGS_'") == 0


@pytest.mark.thorough
async def test_weights_follow_every_outcome_and_a_replaced_one_in_its_place(
    pgs: PGS, db: Database, answer: Answer
) -> None:
    runs = await copies(db, answer.run, 9)
    outcomes = ["accepted"] * 3 + [
        "rejected",
        "rework",
        "accepted",
        "rejected",
        "rework",
        "accepted",
    ]
    for number, (run, outcome) in enumerate(zip(runs, outcomes, strict=True), 1):
        await pgs.runs.feedback(run, outcome)
        stored = await weights(db)
        assert set(stored) == HEADS | BRIDGES
        assert are_all(stored, replayed(outcomes[:number]), number)
    with pytest.raises(FeedbackError, match=r"already has the outcome rejected; .* --replace"):
        await pgs.runs.feedback(runs[3], "accepted")
    assert await weights(db) == stored
    for place, outcome in ((3, "accepted"), (0, "rejected"), (8, "rework"), (3, "rework")):
        result = await pgs.runs.feedback(runs[place], outcome, replace=True)
        assert (result.former, result.changed) == (outcomes[place], True)
        assert (result.nodes, result.triplets) == (4, 3)
        outcomes[place] = outcome
        assert are_all(await weights(db), replayed(outcomes), 9)
    # What a deleted run taught stays.
    await alter(db, "MATCH (r:PgsRun {id: $run}) DETACH DELETE r", run=runs[5])
    await pgs.runs.feedback(runs[2], "rejected", replace=True)
    outcomes[2] = "rejected"
    stored = await weights(db)
    assert are_all(stored, replayed(outcomes), 9)
    # Weights outlive their session, and a graph takes along only those that no other one moved.
    await pgs.graphs.add("same", MAPPING)
    other = await pgs.execute("Why?", graph="same", max_sweep_partitions=1)
    await pgs.runs.feedback(other.run, "accepted")
    await pgs.sessions.delete("default", "papers")
    assert (await weights(db)).keys() >= stored.keys()
    await pgs.graphs.remove("same")
    assert set(await weights(db)) == HEADS | BRIDGES


@pytest.mark.thorough
async def test_32_at_once_count_32(
    pgs: PGS, db: Database, answer: Answer, caplog: pytest.LogCaptureFixture
) -> None:
    runs = await copies(db, answer.run, 32)
    results = await asyncio.gather(*(pgs.runs.feedback(run, "accepted") for run in runs))
    assert all(result.changed for result in results)
    assert are_all(await weights(db), replayed(["accepted"] * 32), 32)
    # Others at once, some of them in place of the first.
    others = (pgs.runs.feedback(run, "rework", replace=True) for run in runs[:16])
    more = [f"s{run}" for run in runs[:16]]
    await alter(db, COPY, run=answer.run, ids=more)
    await asyncio.gather(*others, *(pgs.runs.feedback(run, "accepted") for run in more))
    rows = await fetch(db, HISTORIES)
    (history,) = {tuple(row["outcomes"]) for row in rows}  # all took the same turns
    assert Counter(history) == {"rework": 16, "accepted": 32}
    assert are_all(await weights(db), replayed(history), 48)
    # The same run at once: one counts.
    both = await asyncio.gather(*(pgs.runs.feedback(answer.run, "rejected") for _ in range(8)))
    assert sorted(result.changed for result in both) == [False] * 7 + [True]
    assert {counted for _, counted in (await weights(db)).values()} == {1, 49}
    assert "Deadlock" not in caplog.text


async def test_what_cannot_be_judged_is_refused(pgs: PGS, db: Database, answer: Answer) -> None:
    with pytest.raises(UnknownRunError, match=r"there is no run 'r0'"):
        await pgs.runs.feedback("r0", "accepted")
    with pytest.raises(UnknownRunError, match=r"is of graph papers, not of others"):
        await pgs.runs.feedback(answer.run, "accepted", graph="others")
    with pytest.raises(UsageError, match=r"'good' is not an outcome; use accepted, rework, or"):
        await pgs.runs.feedback(answer.run, "good")
    running, unanswered, dead = await copies(db, answer.run, 3)
    set_run = "MATCH (r:PgsRun {id: $run}) SET r += $properties"
    alive = {"status": "running", "holder": "elsewhere, pid 1, 0a"}
    for run, properties in (
        (running, alive),
        (unanswered, {"status": "stopped", "details": None}),
        (dead, alive),
    ):
        await alter(db, set_run, run=run, properties=properties)
    await alter(
        db,
        "MATCH (r:PgsRun) SET r.updated_at = datetime() - duration({hours: CASE r.id WHEN $run "
        "THEN 1 ELSE 0 END})",
        run=dead,
    )
    with pytest.raises(BusyError, match="is still running; give feedback when it has ended"):
        await pgs.runs.feedback(running, "accepted")
    with pytest.raises(FeedbackError, match=r"no answer yet \(status: stopped\)"):
        await pgs.runs.feedback(unanswered, "accepted")
    assert await weights(db) == {}
    assert (await pgs.runs.feedback(dead, "accepted")).changed  # an earlier answer is there


async def test_what_still_exists_counts_and_the_rest_is_counted(
    pgs: PGS, db: Database, answer: Answer
) -> None:
    await alter(db, "MATCH (p:Paper) WHERE p.doi IN ['doi/0', 'doi/41'] DETACH DELETE p")
    await alter(db, "MATCH (p:PgsPartition|PgsGeneration) DETACH DELETE p")
    result = await pgs.runs.feedback(answer.run, "rejected")
    stored = await weights(db)
    assert result.missing == 2
    assert result.nodes == len(set().union(*bullets(answer))) - 2
    assert not any("doi/0" in about.split() or "doi/41" in about.split() for about in stored)
    assert are_all(stored, 0.45, 1)
    await alter(db, "MATCH (p:Paper {doi: 'doi/40'}) DETACH DELETE p")
    replaced = await pgs.runs.feedback(answer.run, "accepted", replace=True)
    assert (replaced.nodes, replaced.missing) == (result.nodes - 1, 3)
    assert are_all(await weights(db), 0.55, 1)
    # A removed graph takes along the weights that its runs alone have moved.
    await pgs.graphs.remove("papers")
    assert await count(db, "(x:PgsWeight|PgsTriplet)") == 0


async def test_feedback_adds_nothing_to_the_degree_of_a_node(
    pgs: PGS, db: Database, answer: Answer, monkeypatch: pytest.MonkeyPatch
) -> None:
    query = (
        "MATCH (n:Paper)-[m:PGS_IN]->(p:PgsPartition) WHERE n.doi IN ['doi/0', 'doi/40'] "
        "RETURN p.id AS partition, m.rank AS rank, COUNT { (n)--() } AS degree"
    )
    _, rows = await db.call(query, {}, "read")
    cited = [(row["partition"], row["rank"]) for row in rows]
    monkeypatch.setattr(check, "MOST_DEGREE", min(row["degree"] for row in rows))
    before = await check.read_links(db, answer.generation, MAPPING, cited)
    assert len(before) == 1
    await pgs.runs.feedback(answer.run, "accepted")
    _, after = await db.call(query, {}, "read")
    assert min(row["degree"] for row in after) > check.MOST_DEGREE
    assert await check.read_links(db, answer.generation, MAPPING, cited) == before


async def test_searches_rank_relationships_by_their_feedback(pgs: PGS) -> None:
    async def scores() -> dict[str, float]:
        found = await pgs.search("fact0", graph="papers", mode="local")
        return {fact.line: fact.score for fact in found.facts}

    before = await scores()
    answer = await pgs.execute("Why?", graph="papers")
    cited = "Paper 0 --[CITES]--> Paper 1"
    for outcome, moved in (("accepted", 0.015), ("rejected", -0.015)):
        await pgs.runs.feedback(answer.run, outcome, replace=True)
        after = await scores()
        assert after[cited] - before[cited] == pytest.approx(moved)
        unmoved = {line for line in before if after[line] == pytest.approx(before[line], abs=1e-12)}
        assert "Paper 0 --[CITES]--> Paper 2" in unmoved
        assert cited not in unmoved
