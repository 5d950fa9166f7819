"""`pgs ask`, `pgs plan`, and `pgs resume`: ask a question, forecast its cost, or resume its run.

``request`` finds the question or run that a command is about, and ``delivery`` writes the answer.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from pgs_neo4j.cli import output
from pgs_neo4j.cli.commands.request import AskedQuestion, read_asked_question, run_id
from pgs_neo4j.cli.knob_options import LIMITS, QUESTION, with_knobs
from pgs_neo4j.cli.options import (
    ContinueOption,
    FullSweepOption,
    GraphOption,
    JsonOption,
    KeyOption,
    LatestOfOption,
    ModelOption,
    ModeOption,
    QuestionArgument,
    QuietOption,
    RunArgument,
    SearchModeOption,
    SessionOption,
    StructureOption,
    TopKOption,
    VerboseOption,
    model_settings,
)
from pgs_neo4j.cli.progress import Listener, progress, run_progress
from pgs_neo4j.cli.run import run as run_command
from pgs_neo4j.errors import QuestionError, UnmatchedQuestionError, UsageError
from pgs_neo4j.model import SearchMode

if TYPE_CHECKING:
    from pgs_neo4j.cli.commands.delivery import Ask, Asked
    from pgs_neo4j.config import Knobs
    from pgs_neo4j.engine import PGS, Request
    from pgs_neo4j.events import OnEvent


@with_knobs(*QUESTION)
def ask(
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
    """Ask a graph a question.

    Partitions the graph, routes the question to the relevant partitions, sweeps each at full
    text, and synthesizes one cited answer. The session records what was read. A run that
    reaches a limit answers from what it has read; 'pgs resume' completes it. 'pgs plan' predicts
    the cost. If no text in the graph matches the question, pgs asks before it buys much, or
    refuses if it cannot ask. A graph without any text is refused unless --structure-only is set.

    The words after the command are the question. Put it in quotes if it has characters that your
    shell interprets. '-' reads the question from stdin; with piped input, you can leave it out.
    -c continues after the latest run: in its graph and session, with its question unless you ask
    another. Once the session has read the whole graph, nothing is left: it reads and costs nothing
    then, unless you add --full-sweep.

    Exit codes: 0 done, 2 usage, 3 partial answer, or a limit was reached before any answer,
    4 the run with that idempotency key is in progress, 5 database, 6 model, 7 nothing is left to
    read (-c), 130 interrupted.

    \b
      pgs ask "Which results contradict each other?" --graph papers
      pgs ask -c --max-calls 20
      pgs ask -c "And what is missing?"
      pgs ask "Who supplies whom?" --json --quiet > answer.json
    """
    asked = read_asked_question(
        question,
        graph,
        mode,
        session,
        again=continue_,
        quiet=quiet,
        full_sweep=full_sweep,
        structure_only=structure_only,
        key=idempotency_key,
    )
    knobs |= model_settings(model)
    listening = run_progress(quiet=quiet, verbose=verbose)
    run_command(_ask(asked, top_k, search_mode, knobs, listening, as_json=as_json))


async def _ask(
    asked: AskedQuestion,
    top_k: int | None,
    search_mode: SearchMode | None,
    knobs: dict[str, object],
    listening: AbstractContextManager[Listener],
    *,
    as_json: bool,
) -> int:
    from pgs_neo4j.cli.commands.delivery import ask_and_write
    from pgs_neo4j.cli.connection import ask_to_continue, can_ask, engine

    if top_k is not None and asked.key is not None:
        raise UsageError("--idempotency-key cannot be combined with --top-k; leave one of them out")
    if search_mode is not None and top_k is None:
        raise UsageError("--search-mode sets how --top-k finds nodes; add --top-k 20")
    with listening as listener:
        async with engine(listener, **knobs) as pgs:
            request = await asked.request(pgs)
            try:
                ask = request_sender(pgs, request, top_k, search_mode)
                return await ask_and_write(pgs, ask, listener, as_json=as_json)
            except UnmatchedQuestionError as error:
                if as_json or not can_ask():
                    raise
                listener.stop()
                if not ask_to_continue(str(error)):
                    raise QuestionError("nothing was read, because you did not agree") from None
            listener.start()
            more: Knobs = {**request.knobs, "max_unmatched_tokens": "none"}
            anyway = replace(request, knobs=more)
            ask = request_sender(pgs, anyway, top_k, search_mode)
            return await ask_and_write(pgs, ask, listener, as_json=as_json)


def request_sender(
    pgs: PGS,
    request: Request,
    top_k: int | None = None,
    search_mode: SearchMode | None = None,
) -> Ask:
    """Return a function that sends a request; with ``top_k``, it answers from a search first."""

    async def ask(on_event: OnEvent) -> Asked:
        if top_k is None:
            return await pgs.execute(request, on_event=on_event), None
        layered = await pgs.layered_search(
            request, top_k=top_k, search_mode=search_mode, on_event=on_event
        )
        return layered.answer, layered.search

    return ask


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
    # 'pgs plan' accepts these options only so that a 'pgs ask' command works here unchanged.
    del top_k, search_mode, idempotency_key
    asked = read_asked_question(
        question,
        graph,
        mode,
        session,
        again=continue_,
        quiet=quiet,
        full_sweep=full_sweep,
        structure_only=structure_only,
    )
    knobs |= model_settings(model)
    listening = progress(quiet=quiet, verbose=verbose)
    run_command(_plan(asked, knobs, listening, as_json=as_json))


async def _plan(
    asked: AskedQuestion,
    knobs: dict[str, object],
    listening: AbstractContextManager[Listener],
    *,
    as_json: bool,
) -> None:
    from pgs_neo4j.cli.connection import engine
    from pgs_neo4j.cli.pages import as_json as json_of

    with listening as listener:
        async with engine(listener, **knobs) as pgs:
            forecast = await pgs.plan(await asked.request(pgs))
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
    """Return the names of the models that cost money but have no configured price."""
    from pgs_neo4j.engine import is_free

    models = {llm.name: llm for llm in (pgs.sweep_llm, pgs.synthesis_llm)}
    prices = pgs.settings.models
    return [
        name
        for name, llm in models.items()
        if not is_free(llm) and (name not in prices or prices[name].cost(1, 1) is None)
    ]


@with_knobs(*LIMITS)
def resume(
    run: RunArgument = None,
    graph: LatestOfOption = None,
    model: ModelOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
    **knobs: object,
) -> None:
    """Resume a run or an ingestion that ended early.

    The run may have reached a limit, been interrupted, failed, or answered only in part. What
    was read and paid for is not paid for again. The run keeps its options. Its limits start
    over; pass new ones to change them, or 'none' to lift one. A complete run just returns its
    answer. Without RUN, resumes the latest run; 'pgs runs' lists the runs.

    To continue an ingestion, pass the id of its job; 'pgs jobs list' shows it. It keeps its
    options, and its limits start over.

    Exit codes: 0 done, 2 usage, 3 partial answer, limit reached, or a document failed, 4 the run
    or another ingestion is in progress, 5 database, 6 model, 130 interrupted.

    \b
      pgs resume
      pgs resume r0a1b2c3d4e5 --max-calls 50
      pgs resume j0a1b2c3d4e5
    """
    listening = run_progress(quiet=quiet, verbose=verbose)
    if run is not None and run.startswith("j"):
        run_command(_resume_ingestion(run, graph, model, knobs, listening, as_json=as_json))
    else:
        run_command(_resume(run, graph, model, knobs, listening, as_json=as_json, quiet=quiet))


async def _resume_ingestion(
    job: str,
    graph: str | None,
    model: str | None,
    knobs: dict[str, object],
    listening: AbstractContextManager[Listener],
    *,
    as_json: bool,
) -> int:
    from pgs_neo4j.cli.commands.ingest import write_ingested
    from pgs_neo4j.cli.connection import engine

    if graph is not None:
        raise UsageError("--graph chooses the latest run of a graph; leave it out for a job")
    with listening as listener:
        async with engine(listener, **model_settings(model)) as pgs:
            done = await pgs.ingest.resume(job, **cast("Knobs", knobs))
    return write_ingested(done, as_json=as_json)


async def _resume(
    name: str | None,
    graph: str | None,
    model: str | None,
    knobs: dict[str, object],
    listening: AbstractContextManager[Listener],
    *,
    as_json: bool,
    quiet: bool,
) -> int:
    from pgs_neo4j.cli.commands.delivery import ask_and_write
    from pgs_neo4j.cli.connection import engine

    with listening as listener:
        async with engine(listener, **model_settings(model)) as pgs:
            run = await run_id(pgs, name, graph, quiet=quiet)

            async def ask(on_event: OnEvent) -> Asked:
                return await pgs.resume(run, on_event=on_event, **cast("Knobs", knobs)), None

            return await ask_and_write(pgs, ask, listener, as_json=as_json)
