"""Records feedback on runs, and updates the weights of nodes and triplets by it.

A run keeps its outcome, and relationships to the weights that it changed. So a later outcome can
replace it exactly, even if the runs before and after it were deleted.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypedDict, cast, get_args

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.errors import BusyError, FeedbackError, UnknownRunError, UsageError
from pgs_neo4j.graph.scores import ALPHA, START
from pgs_neo4j.model import Answer, Citation, FeedbackResult, GraphMapping, Outcome
from pgs_neo4j.pgs.runs import answers
from pgs_neo4j.pgs.runs.runs import StoredRun, is_running
from pgs_neo4j.pgs.runs.sweep_rows import Name
from pgs_neo4j.text.citations import resolve_qualified

SCORES: dict[Outcome, float] = {"accepted": 1.0, "rework": 0.5, "rejected": 0.0}


class OutcomeRow(TypedDict):
    """A row of ``set_outcomes``.

    ``state`` is ``new``, ``same``, or ``replaced``. If nothing was recorded, it is ``refused``,
    ``running``, or ``unanswered``. ``cited`` counts the cited nodes that still exist.
    """

    state: str
    former: Outcome | None
    nodes: int
    triplets: int
    cited: int


def check_outcome(outcome: str) -> Outcome:
    """Return a valid outcome. Raises UsageError for any other text."""
    if outcome not in SCORES:
        *names, last = get_args(Outcome)
        raise UsageError(f"{outcome[:60]!r} is not an outcome; use {', '.join(names)}, or {last}")
    return outcome


async def record(
    db: Database, stored: StoredRun, mapping: GraphMapping, outcome: Outcome, *, replace: bool
) -> FeedbackResult:
    """Record the outcome of a run, and update the weights, in one transaction.

    The schema must exist. Raises BusyError if the run is still running, and UnknownRunError if it
    was deleted. Raises FeedbackError if it has no answer, or if it has a different outcome and
    ``replace`` is not set.
    """
    if is_running(stored):
        raise _running_error(stored)
    answer = await _load_answer(db, stored)
    rows = await db.write(
        queries.get("pgs/runs/set_outcomes"),
        run=stored.id,
        dead_holder=str(stored.properties["holder"]),
        outcome=outcome,
        replace=replace,
        scores=dict(SCORES),
        alpha=ALPHA,
        start=START,
        types=list(mapping.relationship_types),
        thesis_names=[f"P{partition}:{alias}" for partition, alias in _find_thesis_nodes(answer)],
    )
    if not rows:
        raise UnknownRunError(f"run {stored.id} was just deleted; 'pgs runs' lists the runs")
    row = cast("OutcomeRow", rows[0])
    _check_state(stored, row, outcome)
    return FeedbackResult(
        run=stored.id,
        graph=stored.graph,
        outcome=outcome,
        former=row["former"],
        changed=row["state"] != "same",
        nodes=row["nodes"],
        triplets=row["triplets"],
        missing=max(len(set(_find_cited_nodes(answer))) - row["cited"], 0),
    )


async def delete_weights(db: Database, graph: str) -> int:
    """Delete the weights that only the runs of one graph have rated, and return their number."""
    rows = await db.write(queries.get("pgs/runs/delete_weights"), graph=graph)
    return int(rows[0]["deleted"])


async def _load_answer(db: Database, stored: StoredRun) -> Answer:
    if not stored.properties.get("details"):
        raise _unanswered_error(stored)
    return await answers.load(db, stored)


def _find_thesis_nodes(answer: Answer) -> list[Name]:
    """Return the nodes that the thesis itself cites."""
    synthesis = answer.synthesis
    valid = {(cited.partition, cited.alias): cited for cited in synthesis.citations if cited.valid}
    cited = resolve_qualified(synthesis.thesis, valid)
    return [(citation.partition, citation.alias) for citation in cited if citation.valid]


def _find_cited_nodes(answer: Answer) -> Iterator[Name]:
    """Yield all nodes that an answer, its findings, and its flags cite.

    For an answer from a search, these are all nodes that its prompt showed.
    """
    for citation in answer.shown.nodes if answer.shown else _iterate_citations(answer):
        if citation.valid:
            yield citation.partition, citation.alias


def _iterate_citations(answer: Answer) -> Iterator[Citation]:
    yield from answer.synthesis.citations
    for convergence in answer.crosscheck.convergences:
        yield from convergence.citations
    for sweep in answer.sweeps:
        if sweep.report:
            yield from sweep.report.citations


def _check_state(stored: StoredRun, row: OutcomeRow, outcome: Outcome) -> None:
    """Raise the error for a state in which nothing was recorded."""
    if row["state"] == "running":
        raise _running_error(stored)
    if row["state"] == "unanswered":
        raise _unanswered_error(stored)
    if row["state"] == "refused":
        raise FeedbackError(
            f"run {stored.id} already has the outcome {row['former']}; to make it {outcome}, "
            "replace it with --replace"
        )


def _running_error(stored: StoredRun) -> BusyError:
    return BusyError(f"run {stored.id} is still running; give feedback when it has ended")


def _unanswered_error(stored: StoredRun) -> FeedbackError:
    return FeedbackError(
        f"run {stored.id} has no answer yet (status: {stored.status}), so there is nothing to "
        f"judge; continue it with 'pgs resume {stored.id}'"
    )
