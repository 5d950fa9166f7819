"""The run that a command is about: the named one, else the latest."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pgs_neo4j.cli import output
from pgs_neo4j.errors import UsageError
from pgs_neo4j.text.shown import one_line

if TYPE_CHECKING:
    from pgs_neo4j.engine import PGS, RunInfo

SHOWN = 100  # characters of a question in a note


async def run_id(
    pgs: PGS, run: str | None, graph: str | None, *, answered: bool = False, quiet: bool = False
) -> str:
    """Return the id of a named run, else that of the latest run, and say which it is.

    A name may be the beginning of an id, if no other run's begins so.

    ``answered`` passes over runs without an answer. Raises UnknownRunError and UsageError.
    """
    if run is not None:
        if graph is not None:
            raise UsageError("--graph chooses the latest run of a graph; leave out --graph or RUN")
        return await pgs.runs.find(run)
    latest = await pgs.runs.latest(graph, answered=answered)
    if not quiet:
        output.note(f"the latest run{' with an answer' if answered else ''}: {in_words(latest)}")
    return latest.id


def in_words(run: RunInfo) -> str:
    """Return a run in one line: id, graph, session, and question."""
    place = f"{run.id} of graph {run.graph}, session {run.session}"
    return f"{one_line(place)}: {one_line(run.question, SHOWN)}"
