"""`pgs search`: what matches a question, without a language model."""

from __future__ import annotations

from typing import Annotated, NotRequired, TypedDict

import typer

from pgs_neo4j.cli import output
from pgs_neo4j.cli.commands.questions.request import request_of
from pgs_neo4j.cli.options import GraphOption, JsonOption, QuestionArgument
from pgs_neo4j.cli.run import run
from pgs_neo4j.model import RerankerName, SearchMode


class SearchKnobs(TypedDict):
    """How to search."""

    graph: str | None
    mode: SearchMode
    top_k: int
    weights: tuple[float, float, float]
    rerank: RerankerName | None
    max_context_tokens: NotRequired[int]


ModeOption = Annotated[
    SearchMode,
    typer.Option(
        "--mode", help="What is compared; 'pgs help commands' says which mode fits which question."
    ),
]
WeightsOption = Annotated[
    tuple[float, float, float],
    typer.Option("--weights", help="Weights of local, global, and naive in the mode mix."),
]
RerankOption = Annotated[
    RerankerName | None,
    typer.Option("--rerank", help="Order the best nodes once more; else the mode decides."),
]
ContextOption = Annotated[
    bool, typer.Option("--context", help="Print the text that a prompt would show instead.")
]
ContextTokensOption = Annotated[
    int, typer.Option("--max-context-tokens", min=200, help="Length of that text, by estimate.")
]
TopOption = Annotated[int, typer.Option(min=1, max=200, help="Number of nodes to return.")]


def search(
    question: QuestionArgument = None,
    graph: GraphOption = None,
    mode: ModeOption = "hybrid",
    top_k: TopOption = 10,
    weights: WeightsOption = (1.0, 1.0, 1.0),
    rerank: RerankOption = None,
    context: ContextOption = False,
    max_context_tokens: ContextTokensOption = 12_000,
    as_json: JsonOption = False,
) -> None:
    """Find what matches a question, without a model.

    Takes moments and writes nothing. It compares words by the full-text indexes of the database,
    else by the text index of the partitions, and stored embeddings by its vector indexes. Without
    an index, it reads every text. It also tells the relationships, partitions, and findings of
    earlier runs that match. Nodes that a search finds do not count as read: 'pgs ask' reads.

    \b
      pgs search "Who trades tea?" --graph papers
      pgs search "Which themes are there?" --mode global
      pgs search "Who trades tea?" --context --max-context-tokens 4000
      pgs search "Who trades tea?" --mode naive --top-k 20 --json
    """
    request = request_of(question, graph, None, None, again=False, quiet=as_json)
    knobs = SearchKnobs(graph=graph, mode=mode, top_k=top_k, weights=weights, rerank=rerank)
    if context:
        knobs["max_context_tokens"] = max_context_tokens
    run(_search(request.question or "", knobs, as_json=as_json))


async def _search(question: str, knobs: SearchKnobs, *, as_json: bool) -> None:
    from pgs_neo4j.cli.connection import database
    from pgs_neo4j.cli.pages import found_page

    async with database() as pgs:
        found = await pgs.search(question, **knobs)
    if as_json:
        output.write_json(found_page.as_json(found))
        return
    if found.context:
        output.write_lines(found.context.splitlines())
    else:
        output.write_lines(found_page.lines(found, output.width()))
    for warning in found_page.notes(found):
        output.note(warning)
