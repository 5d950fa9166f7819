"""`pgs plan`: what a question would read and cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pgs_neo4j.cli import output
from pgs_neo4j.cli.commands.questions.knobs import QUESTION
from pgs_neo4j.cli.knob_options import with_knobs
from pgs_neo4j.cli.options import (
    FullSweepOption,
    GraphOption,
    JsonOption,
    KeyOption,
    ModeOption,
    QuestionArgument,
    QuietOption,
    SessionOption,
    TopKOption,
)
from pgs_neo4j.cli.run import run
from pgs_neo4j.text.json_data import Json

if TYPE_CHECKING:
    from pgs_neo4j.engine import PGS


@with_knobs(*QUESTION)
def plan(
    question: QuestionArgument,
    graph: GraphOption = None,
    mode: ModeOption = "full",
    session: SessionOption = "default",
    full_sweep: FullSweepOption = False,
    top_k: TopKOption = None,
    idempotency_key: KeyOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    **knobs: object,
) -> None:
    """Show what a question would read and cost.

    Takes the options of 'pgs ask' and calls no language model. Partitions the graph if needed.
    Passes with a cached reply cost nothing. The figures ignore the search of --top-k, calls that
    --hedge repeats, an early end by --timeout, and a stored answer that --idempotency-key would
    return. (A paid embedding endpoint is asked for one vector.)

    \b
      pgs plan "Which results contradict each other?" --graph papers
      pgs plan "And what is missing?" --mode continue --max-cost 0.50
    """
    del top_k, idempotency_key  # accepted, so that the words of 'pgs ask' work here unchanged
    asked = {"graph": graph, "mode": mode, "session_id": session, "full_sweep": full_sweep}
    run(_plan(question, asked, knobs, as_json=as_json, quiet=quiet))


async def _plan(
    question: str, asked: Json, knobs: dict[str, object], *, as_json: bool, quiet: bool
) -> None:
    from pgs_neo4j.cli.connection import engine
    from pgs_neo4j.cli.pages import as_json as json_of
    from pgs_neo4j.cli.progress.listen import progress
    from pgs_neo4j.engine import check_question

    check_question(question)
    with progress(quiet=quiet) as listener:
        async with engine(listener, **knobs) as pgs:
            forecast = await pgs.plan(question, **asked)
            missing = unpriced(pgs)
    if as_json:
        output.write_json(json_of.plan(forecast, missing))
        return
    from pgs_neo4j.cli.pages import plan_page, tables

    if forecast.sweeps:
        output.write_table(tables.plan(forecast, plan_page.shared_reason(forecast)))
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
