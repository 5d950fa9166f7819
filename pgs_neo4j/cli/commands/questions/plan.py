"""`pgs plan`: what a question would read and cost."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from pgs_neo4j.cli import output
from pgs_neo4j.cli.commands.questions.knobs import QUESTION
from pgs_neo4j.cli.commands.questions.request import Request, request_of
from pgs_neo4j.cli.knob_options import with_knobs
from pgs_neo4j.cli.options import (
    ContinueOption,
    FullSweepOption,
    GraphOption,
    JsonOption,
    KeyOption,
    ModelOption,
    ModeOption,
    QuestionArgument,
    QuietOption,
    SearchModeOption,
    SessionOption,
    StructureOption,
    TopKOption,
    VerboseOption,
    model_settings,
)
from pgs_neo4j.cli.progress.listen import Listener, progress
from pgs_neo4j.cli.run import run
from pgs_neo4j.text.json_data import Json

if TYPE_CHECKING:
    from pgs_neo4j.engine import PGS


@with_knobs(*QUESTION)
def plan(
    question: QuestionArgument = None,
    graph: GraphOption = None,
    continue_: ContinueOption = False,
    mode: ModeOption = None,
    session: SessionOption = None,
    full_sweep: FullSweepOption = False,
    structure_only: StructureOption = False,
    top_k: TopKOption = None,
    search_mode: SearchModeOption = None,
    idempotency_key: KeyOption = None,
    model: ModelOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
    **knobs: object,
) -> None:
    """Show what a question would read and cost.

    Takes the options of 'pgs ask' and calls no language model. Partitions a graph that has no
    partitions yet, and replaces none.
    Passes with a cached reply cost nothing. The figures ignore the search of --top-k, calls that
    --hedge repeats, an early end by --timeout, and a stored answer that --idempotency-key would
    return. (A paid embedding endpoint is asked for one vector.)

    \b
      pgs plan "Which results contradict each other?" --graph papers
      pgs plan -c --max-cost 0.50
    """
    # Accepted, so that the words of 'pgs ask' work here unchanged.
    del top_k, search_mode, idempotency_key
    request = request_of(question, graph, mode, session, again=continue_, quiet=quiet)
    knobs |= model_settings(model)
    listening = progress(quiet=quiet, verbose=verbose)
    asked: Json = {"full_sweep": full_sweep}
    if structure_only:
        asked["structure_only"] = True
    run(_plan(request, asked, knobs, listening, as_json=as_json))


async def _plan(
    request: Request,
    asked: Json,
    knobs: dict[str, object],
    listening: AbstractContextManager[Listener],
    *,
    as_json: bool,
) -> None:
    from pgs_neo4j.cli.connection import engine
    from pgs_neo4j.cli.pages import as_json as json_of

    with listening as listener:
        async with engine(listener, **knobs) as pgs:
            question, target = await request.settle(pgs)
            forecast = await pgs.plan(question, **{**target, **asked})
            missing = unpriced(pgs)
    if as_json:
        output.write_json(json_of.plan(forecast, missing))
        return
    from pgs_neo4j.cli.pages import plan_page, tables

    if forecast.sweeps:
        output.write_table(tables.plan(forecast))
        output.write_lines([""])
    output.write_lines(plan_page.below(forecast, missing, output.width()))


def unpriced(pgs: PGS) -> list[str]:
    """Return the names of paid models that have no configured price."""
    from pgs_neo4j.engine import is_free

    models = {llm.name: llm for llm in (pgs.sweep_llm, pgs.synthesis_llm)}
    prices = pgs.settings.models
    return [
        name
        for name, llm in models.items()
        if not is_free(llm) and (name not in prices or prices[name].cost(1, 1) is None)
    ]
