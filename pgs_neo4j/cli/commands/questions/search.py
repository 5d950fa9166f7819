"""`pgs search`: what matches a question, without a language model."""

from __future__ import annotations

from typing import Annotated, TypedDict

import typer

from pgs_neo4j.cli import output
from pgs_neo4j.cli.commands.questions.request import request_of
from pgs_neo4j.cli.options import GraphOption, JsonOption, QuestionArgument
from pgs_neo4j.cli.run import run
from pgs_neo4j.model import RerankerName, SearchMode


class SearchKnobs(TypedDict):
    """How to search; None stands for what ``[search]`` of ``pgs.toml`` says."""

    graph: str | None
    mode: SearchMode | None
    top_k: int | None
    weights: tuple[float, float, float] | None
    rerank: RerankerName | None
    max_context_tokens: int | None


ModeOption = Annotated[
    SearchMode | None,
    typer.Option(
        "--mode",
        help="What is compared; 'pgs help commands' says which mode fits which question.  "
        "[default: hybrid]",
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
    int | None, typer.Option(min=1, max=200, help="Number of nodes to return.  [default: 10]")
]


def search(
    question: QuestionArgument = None,
    graph: GraphOption = None,
    mode: ModeOption = None,
    top_k: TopOption = None,
    weights: WeightsOption = None,
    rerank: RerankOption = None,
    context: ContextOption = False,
    max_context_tokens: ContextTokensOption = None,
    as_json: JsonOption = False,
) -> None:
    """Find what matches a question, without a model.

    Takes moments and writes nothing. It compares words by the full-text indexes of the database,
    else by the text index of the partitions, and stored embeddings by its vector indexes. Without
    an index, it reads every text. It also tells the relationships, partitions, and findings of
    earlier runs that match. Nodes that a search finds do not count as read: 'pgs ask' reads.
    [search] in pgs.toml sets other defaults.

    \b
      pgs search "Who trades tea?" --graph papers
      pgs search "Which themes are there?" --mode global
      pgs search "Who trades tea?" --context --max-context-tokens 4000
      pgs search "Who trades tea?" --mode naive --top-k 20 --json
    """
    request = request_of(question, graph, None, None, again=False, quiet=as_json)
    knobs = SearchKnobs(
        graph=graph,
        mode=mode,
        top_k=top_k,
        weights=weights,
        rerank=rerank,
        max_context_tokens=max_context_tokens if context else None,
    )
    run(_search(request.question or "", knobs, context=context, as_json=as_json))


async def _search(question: str, knobs: SearchKnobs, *, context: bool, as_json: bool) -> None:
    from pgs_neo4j.cli.connection import database
    from pgs_neo4j.cli.pages import found_page
    from pgs_neo4j.config import CONTEXT_TOKENS

    async with database() as pgs:
        if context and pgs.settings.search.max_context_tokens is None:
            knobs["max_context_tokens"] = knobs["max_context_tokens"] or CONTEXT_TOKENS
        found = await pgs.search(question, **knobs)
    if as_json:
        output.write_json(found_page.as_json(found))
        return
    if context:
        output.write_lines(found.context.splitlines())
    else:
        output.write_lines(found_page.lines(found, output.width()))
    for warning in found_page.notes(found):
        output.note(warning)
