"""`pgs analogies`: texts that use other words for the same mechanism."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Annotated

import typer

from pgs_neo4j.cli import output
from pgs_neo4j.cli.knob_options import with_knobs
from pgs_neo4j.cli.options import (
    GraphOption,
    JsonOption,
    ModelOption,
    QuietOption,
    VerboseOption,
    model_settings,
)
from pgs_neo4j.cli.progress.listen import Listener, progress
from pgs_neo4j.cli.run import DONE, PARTIAL, run

if TYPE_CHECKING:
    from pgs_neo4j.engine import PGS

PlanOption = Annotated[
    bool, typer.Option("--plan", help="Show what it would cost, and call no model.")
]


@with_knobs(
    "max_calls",
    "max_tokens",
    "max_cost",
    "run_timeout_s",
    "sweep_max_tokens",
    "max_concurrent_sweeps",
    "hedge",
)
def analogies(
    graph: GraphOption = None,
    plan: PlanOption = False,
    model: ModelOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
    **knobs: object,
) -> None:
    """Link texts that use other words for the same mechanism.

    A language model restates each text of the graph in one line without the words of its domain.
    Two texts are linked if these lines are much more alike than the texts. Later runs tell sweeps
    about the links, and 'pgs search --mode structural' follows them. Each text is paid for once:
    run the command again after a limit or a crash, or when the graph has changed.

    \b
      pgs analogies --graph papers --plan
      pgs analogies --graph papers --max-cost 0.50
    """
    knobs |= model_settings(model)
    listening = progress(quiet=quiet, verbose=verbose)
    run(_analogies(graph, knobs, listening, plan=plan, as_json=as_json))


async def _analogies(
    graph: str | None,
    knobs: dict[str, object],
    listening: AbstractContextManager[Listener],
    *,
    plan: bool,
    as_json: bool,
) -> int:
    from pgs_neo4j.cli.connection import engine

    with listening as listener:
        async with engine(listener, **knobs) as pgs:
            if plan:
                return await _plan(pgs, graph, as_json=as_json)
            made = await pgs.analogies(graph)
    from pgs_neo4j.cli.pages.analogies import made as page

    if as_json:
        output.write_json(page.as_json(made))
    else:
        output.write_lines(page.lines(made, output.width()))
        for warning in made.warnings:
            output.note(warning)
    return PARTIAL if made.stopped or made.missing else DONE


async def _plan(pgs: PGS, graph: str | None, *, as_json: bool) -> int:
    from pgs_neo4j.cli.pages.analogies import forecast as page

    forecast = await pgs.analogies.plan(graph)
    if as_json:
        output.write_json(page.as_json(forecast))
    else:
        output.write_lines(page.lines(forecast, output.width()))
    return DONE
