"""Entities as lines: a list of them, and everything about one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pgs_neo4j.cli.pages.text import item, labeled
from pgs_neo4j.model.entities import EntityChunk, EntityInfo, EntityName, EntityPage
from pgs_neo4j.text.shown import counted, one_line

WAYS = {
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
"""What is said of a name, by how it came to its entity."""


def list_lines(entities: Sequence[EntityInfo]) -> list[str]:
    """Return a line for each entity."""
    return [
        f"{one_line(one.name)}  {one_line(one.type)}, {counted(one.mentions, 'mention')}, "
        f"{one_line(one.id)}"
        for one in entities
    ]


def page_lines(page: EntityPage, width: int) -> list[str]:
    """Return all about an entity."""
    own = page.entity
    rows = [
        ("Entity", f"{one_line(own.name)}, {one_line(own.type)}, {one_line(own.id)}"),
        ("Mentions", f"{own.mentions:,}"),
        ("About", one_line(own.description) or "none"),
    ]
    return [
        *(line for label, text in rows for line in labeled(label, text, width)),
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
    way = WAYS.get(name.joined, f"{one_line(name.joined)} of")
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
