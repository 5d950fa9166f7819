"""Feedback on relationships that searches show: how far accepted ones rise, and rejected ones fall.

Each of some questions has one relationship accepted and another rejected, five times each. Runs
stand in the database as `pgs feedback` leaves them; the statement that follows an outcome is its
own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.graph.scores import ALPHA, START
from pgs_neo4j.model import FoundFact, GraphMapping, Outcome
from pgs_neo4j.pgs.runs.feedback import SCORES
from pgs_neo4j.search.paths.facts import INFLUENCE, find_facts
from pgs_neo4j.search.paths.vector import find_by_vector
from tests.bench.judged import Judged

CASES, TIMES = 20, 5
DEEP, HOPS = 200, 2
LEAST = 40
"""Relationships that a question finds."""
# A run whose thesis cites both ends of a relationship.
CREATE_RUN = """
MATCH (a), (b) WHERE elementId(a) = $source AND elementId(b) = $target
CREATE (r:PgsRun {id: $run, status: 'complete', details: '{}'})
CREATE (t:PgsThesis {id: $run + ':thesis'})-[:PGS_FROM]->(r)
CREATE (t)-[:PGS_CITES {partition: 1, alias: 'n1'}]->(a)
CREATE (t)-[:PGS_CITES {partition: 1, alias: 'n2'}]->(b)
"""
DELETE = """
MATCH (n) WHERE n:PgsRun OR n:PgsThesis OR n:PgsTriplet OR n:PgsWeight OR n:PgsMeta DETACH DELETE n
"""
Key = tuple[str, str, str]


async def measure_outcomes(database: Database, graph: Judged) -> dict[str, float]:
    """Shares of accepted relationships that rise and rejected ones that fall, and by how much."""
    if graph.embedder is None:
        return {}
    mapping = graph.mapping
    lists: dict[str, list[FoundFact]] = {}
    chosen: dict[Key, Outcome] = {}
    for question in graph.questions:
        facts = await _facts(database, mapping, graph, question.text)
        free = [fact for fact in facts if not {_key(fact), _turned(fact)} & chosen.keys()]
        if len(free) >= LEAST and len(lists) < CASES:
            # Neither is at the end of the list that it moves to.
            accepted, rejected = free[len(free) // 2], free[len(free) // 4]
            chosen |= {_key(accepted): "accepted", _key(rejected): "rejected"}
            lists[question.text] = facts
    await _follow(database, chosen)
    after = {text: await _facts(database, mapping, graph, text) for text in lists}
    await database.call(DELETE, {}, "write")
    return {f"outcomes of {len(chosen)} relationships": len(chosen) * TIMES} | _compare(
        lists, after, chosen
    )


async def _facts(
    database: Database, mapping: GraphMapping, graph: Judged, question: str
) -> list[FoundFact]:
    assert graph.embedder is not None
    vector = (await graph.embedder.embed([question]))[0]
    near = await find_by_vector(database, (), mapping, vector, 10)
    hits = await find_facts(database, mapping, near.scores, vector, hops=HOPS, k=DEEP)
    return [fact for fact in hits.things if isinstance(fact, FoundFact)]


async def _follow(database: Database, chosen: Mapping[Key, Outcome]) -> None:
    """Record the outcome of one run after another, the relationships in turn."""
    for turn in range(TIMES):
        for place, ((_, source, target), outcome) in enumerate(chosen.items()):
            run = f"bench{turn}:{place}"
            ends = {"run": run, "source": source, "target": target}
            await database.call(CREATE_RUN, ends, "write")
            await database.write(
                queries.get("pgs/runs/set_outcomes"),
                run=run,
                dead_holder="",
                outcome=outcome,
                replace=False,
                scores=dict(SCORES),
                alpha=ALPHA,
                start=START,
                types=[],
                thesis_names=["P1:n1", "P1:n2"],
            )


def _compare(
    before: Mapping[str, Sequence[FoundFact]],
    after: Mapping[str, Sequence[FoundFact]],
    chosen: Mapping[Key, Outcome],
) -> dict[str, float]:
    moved: dict[Outcome, list[int]] = {"accepted": [], "rejected": []}
    errors, same_order = [], []
    for text, facts in before.items():
        predicted = {fact.id: _predict(fact, chosen) for fact in facts}
        order = sorted(facts, key=lambda fact: (-predicted[fact.id], fact.id))
        now = {fact.id: fact.score for fact in after[text]}
        same_order.append([*now] == [fact.id for fact in order])
        errors += [abs(now[one] - score) for one, score in predicted.items()]
        places = {one: place for place, one in enumerate(now)}
        ends: dict[Outcome, int] = {"accepted": 0, "rejected": len(facts) - 1}
        for place, fact in enumerate(facts):
            outcome = _outcome(fact, chosen)
            if outcome and place != ends[outcome]:  # nothing is beyond the end of a list
                moved[outcome].append(place - places[fact.id])
    return {
        "accepted relationships that rise": fmean(steps > 0 for steps in moved["accepted"]),
        "rejected relationships that fall": fmean(steps < 0 for steps in moved["rejected"]),
        "places that accepted ones rise": fmean(moved["accepted"]),
        "lists in the order of the formula": fmean(same_order),
        "largest difference of a score from it": max(errors),
    }


def _predict(fact: FoundFact, chosen: Mapping[Key, Outcome]) -> float:
    """Return the score after all outcomes, by the closed form of the moving average."""
    outcome = _outcome(fact, chosen)
    if outcome is None:
        return fact.score
    return fact.score + INFLUENCE * (SCORES[outcome] - START) * (1 - (1 - ALPHA) ** TIMES)


def _outcome(fact: FoundFact, chosen: Mapping[Key, Outcome]) -> Outcome | None:
    """Return the outcomes that a relationship has, also those of its other direction.

    Feedback rates every relationship between two nodes that are cited together.
    """
    return chosen.get(_key(fact)) or chosen.get(_turned(fact))


def _key(fact: FoundFact) -> Key:
    return fact.type, fact.source, fact.target


def _turned(fact: FoundFact) -> Key:
    return fact.type, fact.target, fact.source
