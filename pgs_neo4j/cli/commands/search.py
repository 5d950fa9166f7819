"""`pgs search`: find what matches a question; with --answer, also answer from it."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, get_args

import typer

from pgs_neo4j.cli import output
from pgs_neo4j.cli.commands.request import DEFAULT_SESSION, read_question
from pgs_neo4j.cli.knob_options import with_knobs
from pgs_neo4j.cli.options import (
    GraphOption,
    JsonOption,
    ModelOption,
    QuestionArgument,
    QuietOption,
    SessionOption,
    VerboseOption,
    model_settings,
)
from pgs_neo4j.cli.progress import Listener, progress, run_progress
from pgs_neo4j.cli.run import run
from pgs_neo4j.model import KeywordSource, RerankerName, SearchMode
from pgs_neo4j.text.json_data import Json

if TYPE_CHECKING:
    from pgs_neo4j.cli.commands.delivery import Asked
    from pgs_neo4j.events import OnEvent

KNOBS = (
    *("max_calls", "max_tokens", "max_cost", "run_timeout_s", "synthesis_max_tokens"),
    *("strict", "cache"),
)

ModeOption = Annotated[
    SearchMode | None,
    typer.Option(
        "--mode",
        metavar="MODE",
        help=f"What is compared: {', '.join(get_args(SearchMode))}. 'pgs help commands' says which "
        "fits which question; the last two need --answer.  [default: hybrid]",
    ),
]
WeightsOption = Annotated[
    tuple[float, float, float] | None,
    typer.Option(
        "--weights",
        help="Weights of local, global, and naive in the mode mix.  [default: 1, 1, 1]",
    ),
]
RerankOption = Annotated[
    RerankerName | None,
    typer.Option("--rerank", help="Order the best nodes once more; else the mode decides."),
]
ContextOption = Annotated[
    bool, typer.Option("--context", help="Print the text that a prompt would show instead.")
]
ContextTokensOption = Annotated[
    int | None,
    typer.Option(
        "--max-context-tokens",
        min=200,
        help="Length of that text, by estimate.  [default: 12,000]",
    ),
]
TopOption = Annotated[
    int | None,
    typer.Option(
        min=1, max=200, help="Number of nodes to return.  [default: 10, or 30 for an answer]"
    ),
]
KeywordsOption = Annotated[
    KeywordSource | None,
    typer.Option(
        "--keywords",
        help="Who names the keywords of an answer in the modes local, global, mix, and multipath: "
        "a model, in one more call, or the question's own words.  [default: model]",
    ),
]
AnswerOption = Annotated[
    bool, typer.Option("--answer", help="Let the model answer from what was found, in one call.")
]
PlanOption = Annotated[
    bool, typer.Option("--plan", help="Show what such an answer would cost, and call no model.")
]
KeyOption = Annotated[
    str | None,
    typer.Option(
        "--idempotency-key",
        metavar="KEY",
        help="Return the first answer to the same request in the session.",
    ),
]


@dataclass(frozen=True, slots=True)
class SearchCommand:
    """A search with its options: ``wanted`` goes to the search, ``knobs`` to the engine."""

    question: str
    wanted: Json
    knobs: dict[str, object]
    listening: AbstractContextManager[Listener]
    as_json: bool


@with_knobs(*KNOBS)
def search(
    question: QuestionArgument = None,
    graph: GraphOption = None,
    mode: ModeOption = None,
    top_k: TopOption = None,
    weights: WeightsOption = None,
    rerank: RerankOption = None,
    context: ContextOption = False,
    max_context_tokens: ContextTokensOption = None,
    keywords: KeywordsOption = None,
    answer: AnswerOption = False,
    plan: PlanOption = False,
    session: SessionOption = None,
    idempotency_key: KeyOption = None,
    model: ModelOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
    **knobs: object,
) -> None:
    """Find what matches a question.

    Takes moments and writes nothing. It compares words and stored embeddings, by indexes where
    there are any, and also tells the relationships, partitions, and findings of earlier runs.

    With --answer, the model of the synthesis answers from what was found, in one call. Its
    citations are checked, and what it did not find is looked for in the whole graph. 'pgs show',
    'pgs export', and 'pgs resume' take the answer. Nothing that a search finds or shows counts as
    read: 'pgs ask' reads. [search] in pgs.toml sets other defaults.

    \b
      pgs search "Who trades tea?" --graph papers
      pgs search "Which themes are there?" --mode global
      pgs search "Who trades tea?" --context --max-context-tokens 4000
      pgs search "Who trades tea?" --answer --max-cost 0.05
    """
    wanted: Json = {"graph": graph, "mode": mode, "top_k": top_k, "weights": weights}
    wanted |= {"rerank": rerank, "max_context_tokens": max_context_tokens}
    asked = read_question(question, quiet=as_json)
    listen = run_progress if answer and not plan else progress
    knobs |= model_settings(model)
    listening = listen(quiet=quiet, verbose=verbose)
    command = SearchCommand(asked, wanted, knobs, listening, as_json)
    if plan or answer:
        wanted["keywords"] = keywords
        wanted["session_id"] = session or DEFAULT_SESSION
        run(_plan(command) if plan else _answer(command, idempotency_key))
    else:
        run(_search(command, context=context))


async def _search(command: SearchCommand, *, context: bool) -> None:
    from pgs_neo4j.cli.connection import database
    from pgs_neo4j.cli.pages import found_page
    from pgs_neo4j.config import CONTEXT_TOKENS

    wanted = command.wanted
    if not context:
        wanted["max_context_tokens"] = None
    async with database() as pgs:
        if context and pgs.settings.search.max_context_tokens is None:
            wanted["max_context_tokens"] = wanted["max_context_tokens"] or CONTEXT_TOKENS
        found = await pgs.search(command.question, **wanted)
    if command.as_json:
        output.write_json(found_page.as_json(found))
        return
    if context:
        output.write_lines(found.context.splitlines())
    else:
        output.write_lines(found_page.lines(found, output.width()))
    for warning in found_page.notes(found):
        output.note(warning)


async def _plan(command: SearchCommand) -> None:
    from pgs_neo4j.cli.commands.ask import unpriced
    from pgs_neo4j.cli.connection import engine
    from pgs_neo4j.cli.pages import as_json as json_of
    from pgs_neo4j.cli.pages import plan_page

    with command.listening as listener:
        async with engine(listener, **command.knobs) as pgs:
            planned = await pgs.search.plan(command.question, **command.wanted)
            missing = unpriced(pgs)
    if command.as_json:
        output.write_json(json_of.search_plan(planned, missing))
    else:
        output.write_lines(plan_page.search_lines(planned, missing, output.width()))
        for note in planned.notes:
            output.note(note)


async def _answer(command: SearchCommand, key: str | None) -> int:
    from pgs_neo4j.cli.commands.delivery import ask_and_write
    from pgs_neo4j.cli.connection import engine

    wanted = {**command.wanted, "idempotency_key": key, "answer": True}
    with command.listening as listener:
        async with engine(listener, **command.knobs) as pgs:

            async def ask(on_event: OnEvent) -> Asked:
                found = await pgs.search(command.question, **wanted, on_event=on_event)
                assert found.answer is not None  # the call asks for an answer
                return found.answer, None

            return await ask_and_write(pgs, ask, listener, as_json=command.as_json)
