"""`pgs ask`: answer one question from a graph."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

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
from pgs_neo4j.cli.progress.listen import Listener, run_progress
from pgs_neo4j.cli.run import run
from pgs_neo4j.errors import QuestionError, UnmatchedQuestionError, UsageError
from pgs_neo4j.text.json_data import Json

if TYPE_CHECKING:
    from pgs_neo4j.cli.commands.questions.delivery import Ask, Asked
    from pgs_neo4j.engine import PGS
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
    request = request_of(question, graph, mode, session, again=continue_, quiet=quiet)
    optional = {
        "structure_only": structure_only or None,
        "top_k": top_k,
        "search_mode": search_mode,
        "idempotency_key": idempotency_key,
    }
    asked: Json = {name: value for name, value in optional.items() if value is not None}
    asked["full_sweep"] = full_sweep
    knobs |= model_settings(model)
    listening = run_progress(quiet=quiet, verbose=verbose)
    run(_ask(request, asked, knobs, listening, as_json=as_json))


async def _ask(
    request: Request,
    asked: Json,
    knobs: dict[str, object],
    listening: AbstractContextManager[Listener],
    *,
    as_json: bool,
) -> int:
    from pgs_neo4j.cli.commands.questions.delivery import answered
    from pgs_neo4j.cli.connection import agrees, can_ask, engine

    if "top_k" in asked and "idempotency_key" in asked:
        raise UsageError("--idempotency-key cannot be combined with --top-k; leave one of them out")
    if "search_mode" in asked and "top_k" not in asked:
        raise UsageError("--search-mode says how --top-k finds nodes; add --top-k 20")
    with listening as listener:
        async with engine(listener, **knobs) as pgs:
            question, target = await request.settle(pgs)
            asked = {**target, **asked}
            try:
                return await answered(pgs, asking(pgs, question, asked), listener, as_json=as_json)
            except UnmatchedQuestionError as error:
                if as_json or not can_ask():
                    raise
                listener.stop()
                if not agrees(str(error)):
                    raise QuestionError("nothing was read, because you did not agree") from None
            listener.start()
            anyway: Json = {**asked, "max_unmatched_tokens": "none"}
            return await answered(pgs, asking(pgs, question, anyway), listener, as_json=as_json)


def asking(pgs: PGS, question: str, asked: Json) -> Ask:
    """Return a function that asks ``question``.

    If ``asked`` has ``top_k``, it searches first.
    """

    async def ask(on_event: OnEvent) -> Asked:
        if "top_k" not in asked:
            return await pgs.execute(question, **asked, on_event=on_event), None
        layered = await pgs.layered_search(question, **asked, on_event=on_event)
        return layered.answer, layered.search

    return ask
