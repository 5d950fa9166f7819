"""`pgs search`: what matches a question, without a language model."""

from __future__ import annotations

from typing import Annotated

import typer

from pgs_neo4j.cli import output
from pgs_neo4j.cli.commands.questions.request import request_of
from pgs_neo4j.cli.options import GraphOption, JsonOption, QuestionArgument
from pgs_neo4j.cli.run import run
from pgs_neo4j.model import SearchMode


def search(
    question: QuestionArgument = None,
    graph: GraphOption = None,
    mode: Annotated[
        SearchMode,
        typer.Option(
            "--mode",
            help="naive: embeddings alone; hybrid: with words and neighbors; structural: with what "
            "lies beyond nodes without text.",
        ),
    ] = "hybrid",
    top_k: Annotated[
        int, typer.Option("--top-k", min=1, max=200, help="Number of nodes to return.")
    ] = 10,
    as_json: JsonOption = False,
) -> None:
    """Find what matches a question, without a model.

    Takes moments and writes nothing. It compares words by the full-text indexes of the database,
    else by the text index of the partitions, and stored embeddings by its vector indexes. Without
    an index, it reads every text. Nodes that a search finds do not count as read: 'pgs ask' reads.

    \b
      pgs search "Who trades tea?" --graph papers
      pgs search "Who trades tea?" --mode naive --top-k 20 --json
    """
    request = request_of(question, graph, None, None, again=False, quiet=as_json)
    run(_search(request.question or "", graph, mode, top_k, as_json=as_json))


async def _search(
    question: str,
    graph: str | None,
    mode: SearchMode,
    top_k: int,
    *,
    as_json: bool,
) -> None:
    from pgs_neo4j.cli.connection import database
    from pgs_neo4j.cli.pages import found_page

    async with database() as pgs:
        found = await pgs.search(question, graph=graph, mode=mode, top_k=top_k)
    if as_json:
        output.write_json(found_page.as_json(found))
        return
    output.write_lines(found_page.lines(found, output.width()))
    for warning in found_page.notes(found):
        output.note(warning)
