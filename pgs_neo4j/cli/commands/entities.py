"""`pgs entities …`: list, show, merge, and split the entities of a graph of documents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated

import typer

from pgs_neo4j.cli import output
from pgs_neo4j.cli.options import GraphOption, JsonOption
from pgs_neo4j.cli.pages.text import item, labeled_rows
from pgs_neo4j.cli.progress import progress
from pgs_neo4j.cli.run import run
from pgs_neo4j.model.browsing import EntityChunk, EntityInfo, EntityName, EntityPage
from pgs_neo4j.text.json_data import plain_data
from pgs_neo4j.text.shown import counted, one_line

entities_app = typer.Typer(
    no_args_is_help=True, help="List, show, merge, and split the entities of a graph."
)
EntityArgument = Annotated[
    str, typer.Argument(metavar="ENTITY", help="One of its names, Type:Name, or its id.")
]
REASONS = {
    "leads": "the leading name",
    "merged": "merged into",
    "apart": "split off by a ruling",
    "type": "few chunks give it this type; it follows",
    "spelling": "another spelling of",
    "judgment": "judged by a model to be",
    "company form": "another form of the company",
    "acronym": "acronym of",
    "definition": "defined in a text as short for",
    "initials": "initials of",
    "typing error": "misspelling of",
    "other": "variant of",
}
"""Words for the reason why a name belongs to its entity, by ``EntityName.joined``."""


@entities_app.command("list")
def list_(
    graph: GraphOption = None,
    text: Annotated[str, typer.Option(help="Only entities with this text in a name.")] = "",
    kind: Annotated[str, typer.Option("--type", help="Only entities of this type.")] = "",
    limit: Annotated[int, typer.Option(min=1, help="List at most this many.")] = 100,
    as_json: JsonOption = False,
) -> None:
    """List entities, those with the most mentions first."""
    run(_list(graph, text, kind, limit, as_json=as_json))


async def _list(graph: str | None, text: str, kind: str, limit: int, *, as_json: bool) -> None:
    from pgs_neo4j.cli.connection import database, find_graph_name

    async with database() as pgs:
        graph = await find_graph_name(pgs, graph)
        found = await pgs.entities(graph, text=text, kind=kind, limit=limit)
    if as_json:
        output.write_json({"entities": [plain_data(one) for one in found]})
        return
    output.write_lines(list_lines(found))
    if not found:
        output.note(f"graph {graph} has no such entities")
    elif len(found) == limit:
        output.note(f"there may be more than these {limit}; --limit lists more")


def list_lines(entities: Sequence[EntityInfo]) -> list[str]:
    """Return a line for each entity."""
    return [
        f"{one_line(one.name)}  {one_line(one.type)}, {counted(one.mentions, 'mention')}, "
        f"{one_line(one.id)}"
        for one in entities
    ]


@entities_app.command("show")
def show(entity: EntityArgument, graph: GraphOption = None, as_json: JsonOption = False) -> None:
    """Show an entity: its names and why they belong to it, chunks, and relations."""
    run(_show(entity, graph, as_json=as_json))


async def _show(entity: str, graph: str | None, *, as_json: bool) -> None:
    from pgs_neo4j.cli.connection import database, find_graph_name

    async with database() as pgs:
        graph = await find_graph_name(pgs, graph)
        page = await pgs.entities.show(graph, entity)
    if as_json:
        output.write_json(plain_data(page))
    else:
        output.write_lines(page_lines(page, output.width()))


def page_lines(page: EntityPage, width: int) -> list[str]:
    """Return the lines on an entity: its figures, names, chunks, and relations."""
    own = page.entity
    rows = [
        ("Entity", f"{one_line(own.name)}, {one_line(own.type)}, {one_line(own.id)}"),
        ("Mentions", f"{own.mentions:,}"),
        ("About", one_line(own.description) or "none"),
    ]
    return [
        *labeled_rows(rows, width),
        *_section("Names", len(page.names), map(_name, page.names), width),
        *_section("Chunks", page.chunk_count, map(_chunk, page.chunks), width),
        *_section("Relations", page.relation_count, _relations(page), width),
    ]


def _section(title: str, count: int, texts: Iterator[str], width: int) -> Iterator[str]:
    listed = [*texts]
    if not listed:
        return
    yield ""
    yield f"{title} ({count:,})"
    for text in listed:
        yield from item(text, width)
    if count > len(listed):
        yield f"  and {count - len(listed):,} more"


def _name(name: EntityName) -> str:
    spelled = ", ".join(map(one_line, name.spellings))
    way = REASONS.get(name.joined, f"{one_line(name.joined)} of")
    way += f" {one_line(name.to)}" if name.to else ""
    return f"{spelled} ({counted(name.mentions, 'mention')}): {way}; {one_line(name.id)}"


def _chunk(chunk: EntityChunk) -> str:
    place = [chunk.document, *chunk.path]
    place += [f"page {chunk.page}"] if chunk.page is not None else []
    return f"{one_line(', '.join(place))}: {one_line(chunk.name)}"


def _relations(page: EntityPage) -> Iterator[str]:
    for one in page.relations:
        other, kind = one_line(one.other), one_line(one.type)
        stated = f"{kind} {other}" if one.outgoing else f"{other} {kind} this"
        fact = f": {one_line(one.fact)}" if one.fact else ""
        yield f"{stated} ({counted(one.mentions, 'mention')}){fact}"


@entities_app.command("merge")
def merge(
    entities: Annotated[
        list[str], typer.Argument(metavar="ENTITY... INTO", help="Names, Type:Name, or ids.")
    ],
    graph: GraphOption = None,
    as_json: JsonOption = False,
) -> None:
    """Merge entities into the last one.

    Later ingestions respect this. 'pgs entities split' undoes it.
    """
    if len(entities) < 2:
        raise typer.BadParameter("name at least two entities; the others are merged into the last")
    run(_merge(entities[:-1], entities[-1], graph, as_json=as_json))


async def _merge(entities: list[str], into: str, graph: str | None, *, as_json: bool) -> None:
    from pgs_neo4j.cli.connection import engine, find_graph_name

    with progress(quiet=True, verbose=False) as listener:
        async with engine(listener) as pgs:
            graph = await find_graph_name(pgs, graph)
            merged = await pgs.entities.merge(graph, entities, into)
    if as_json:
        output.write_json({"merged": merged})
    else:
        output.write_lines([f"merged into {one_line(merged)}"])


@entities_app.command("split")
def split(
    entity: EntityArgument,
    graph: GraphOption = None,
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME]...", help="Names to split off.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Split names off an entity; without names, undo all merges into it.

    Splitting off a merged name undoes that merge. Later ingestions respect this.
    """
    run(_split(entity, names or [], graph, as_json=as_json))


async def _split(entity: str, names: list[str], graph: str | None, *, as_json: bool) -> None:
    from pgs_neo4j.cli.connection import engine, find_graph_name

    with progress(quiet=True, verbose=False) as listener:
        async with engine(listener) as pgs:
            graph = await find_graph_name(pgs, graph)
            parts = await pgs.entities.split(graph, entity, names)
    if as_json:
        output.write_json({"entities": parts})
    else:
        output.write_lines(["these are separate entities now:"])
        output.write_lines([f"  {one_line(part)}" for part in parts])
