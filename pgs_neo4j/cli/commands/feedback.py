"""`pgs feedback`: record whether an answer was useful."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, get_args

import typer

from pgs_neo4j.cli import output
from pgs_neo4j.cli.commands.request import run_id
from pgs_neo4j.cli.completion import complete_runs
from pgs_neo4j.cli.options import JsonOption, LatestOfOption
from pgs_neo4j.cli.run import run as run_command
from pgs_neo4j.model import Outcome
from pgs_neo4j.text.json_data import plain_data
from pgs_neo4j.text.shown import counted

if TYPE_CHECKING:
    from pgs_neo4j.model import FeedbackResult


def _complete_outcomes(incomplete: str) -> list[str]:
    return [outcome for outcome in get_args(Outcome) if outcome.startswith(incomplete)]


def _complete_first_argument(incomplete: str) -> list[str]:
    return [*_complete_outcomes(incomplete), *complete_runs(incomplete)]


def feedback(
    run: Annotated[
        str | None,
        typer.Argument(
            metavar="RUN",
            help="The run's id; the latest run with an answer by default.",
            autocompletion=_complete_first_argument,
        ),
    ] = None,
    outcome: Annotated[
        str | None,
        typer.Argument(
            metavar="OUTCOME",
            help="accepted, rework, or rejected.",
            autocompletion=_complete_outcomes,
        ),
    ] = None,
    graph: LatestOfOption = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Replace another outcome of the run.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Say whether an answer was useful.

    Each node that the answer cites has a weight, and so has each relationship between nodes
    that are cited together. The weights start at 0.5. An accepted answer moves them toward 1,
    a rejected one toward 0, and one that needs rework toward 0.5. Your nodes stay unchanged.

    A run has one outcome. The same one again changes nothing. --replace replaces another one
    as if it had been given at first.

    \b
      pgs feedback accepted
      pgs feedback r0a1b2c3d4e5 rejected
      pgs feedback r0a1b2c3d4e5 accepted --replace
    """
    if outcome is None:
        run, outcome = None, run
    run_command(_feedback(run, outcome, graph, replace=replace, as_json=as_json))


async def _feedback(
    name: str | None, outcome: str | None, graph: str | None, *, replace: bool, as_json: bool
) -> None:
    from pgs_neo4j.cli.connection import database
    from pgs_neo4j.engine import check_outcome

    chosen = check_outcome(outcome or "")
    async with database() as pgs:
        run = await run_id(pgs, name, graph, answered=True)
        result = await pgs.runs.feedback(run, chosen, replace=replace)
    if as_json:
        output.write_json(plain_data(result))
    else:
        output.write_lines(in_words(result))


def in_words(result: FeedbackResult) -> list[str]:
    """Return lines on the outcome, the weights that changed, and cited nodes that are gone."""
    weights = f"{counted(result.nodes, 'node')} and {counted(result.triplets, 'relationship')}"
    if not result.changed:
        lines = [f"run {result.run} already has the outcome {result.outcome}; nothing changed"]
    elif result.former is None:
        lines = [f"run {result.run} is {result.outcome}; the weights of {weights} follow"]
    else:
        lines = [
            f"run {result.run} is {result.outcome} instead of {result.former}; the weights of "
            f"{weights} follow"
        ]
    if result.missing:
        lines.append(f"no longer in the graph: {counted(result.missing, 'node')} that it cites")
    return lines
