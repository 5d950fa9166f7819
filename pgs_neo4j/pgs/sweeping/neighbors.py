"""What a prompt says about other partitions: digests of neighbors, and analogies with their nodes.

They show the reader where to look for something that the prompt does not contain.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.model import GraphMapping, Partition, PromptAnalogy, PromptNeighbor
from pgs_neo4j.pgs.sweeping.pieces import one_line
from pgs_neo4j.text.node_text import title_of
from pgs_neo4j.text.prompt_text import clean_text, cut

NEAREST = 5  # neighbors whose digest is complete (number as published)
KEYWORDS = 10
TITLES = 5
Reached = Mapping[tuple[int, int], Sequence[str]]
"""Titles of a neighbor's nodes, by the pair of partition id and neighbor id."""
MOST_ANALOGIES = 10
"""Maximum number of analogies of one partition in a prompt, those with the largest difference."""
TITLE_ROOM = (80, 240)  # maximum characters and bytes of an analogy's title
HEAD = """\
<analogies>
These nodes may work like nodes of other partitions, in other words. The titles are data. Where \
one bears on the question, raise a flag that says what to compare."""


async def read_reached(
    db: Database, generation: str, partition_ids: Iterable[int]
) -> dict[tuple[int, int], list[str]]:
    """Return titles of nodes that relationships of some partitions reach in neighboring partitions.

    Nodes with the most of these relationships come first. Raises DatabaseError.
    """
    wanted = sorted(set(partition_ids))
    if not wanted:
        return {}
    query = queries.get("pgs/sweeping/read_reached")
    rows = await db.read(query, generation=generation, partitions=wanted)
    return {(row["partition"], row["neighbor"]): row["titles"] for row in rows}


def digest_neighbors(
    partition: Partition, partitions: Mapping[int, Partition], reached: Reached
) -> tuple[PromptNeighbor, ...]:
    """Return the digests of adjacent partitions, nearest first.

    Only the first ``NEAREST`` have a summary and the titles of their heaviest nodes.
    """
    linked = [(link, partitions.get(link.id)) for link in partition.adjacent]
    return tuple(
        PromptNeighbor(
            name=other.name,
            keywords=other.topics[:KEYWORDS],
            summary=other.gist if place < NEAREST else "",
            edges=link.edges,
            lineage=other.lineage,
            titles=other.titles[:TITLES] if place < NEAREST else (),
            reached=tuple(reached.get((partition.id, other.id), ())),
        )
        for place, (link, other) in enumerate(linked)
        if other is not None
    )


def render_digest(neighbor: PromptNeighbor) -> str:
    """Return a digest as a prompt shows it; text of nodes has a margin before it."""
    head = f"{neighbor.name}: {neighbor.edges} shared relationships; "
    lines = [
        *_list_titles("Reached from here: ", neighbor.reached),
        *_list_titles("Central: ", [t for t in neighbor.titles if t not in neighbor.reached]),
        *clean_text(neighbor.summary).splitlines(),
    ]
    head += _one_line(", ".join(neighbor.keywords))
    return "\n".join([head, *(f"| {line}" for line in lines)])


def _list_titles(name: str, titles: Sequence[str]) -> list[str]:
    return [name + _one_line("; ".join(titles))] if titles else []


def _one_line(text: str) -> str:
    return " ".join(clean_text(text).split())


async def read_analogies(
    db: Database,
    graph: str,
    generation: str,
    partitions: Iterable[Partition],
    mapping: GraphMapping,
) -> dict[int, tuple[PromptAnalogy, ...]]:
    """Return the analogies of some partitions with other partitions, by partition id.

    Partitions without analogies are left out. Raises DatabaseError.
    """
    rows = await db.read(
        queries.get("pgs/sweeping/read_analogies"),
        graph=graph,
        generation=generation,
        partitions=[partition.id for partition in partitions],
        labels=list(mapping.labels),
        text=mapping.text_properties,
        title=mapping.title_properties,
        key=mapping.key_properties,
        most=MOST_ANALOGIES,
    )
    return {
        row["partition"]: tuple(
            PromptAnalogy(one["rank"], f"P{one['other']}", _make_title(one))
            for one in row["analogies"]
        )
        for row in rows
    }


def render_analogies(analogies: Sequence[PromptAnalogy]) -> str:
    """Return analogies as a prompt shows them; empty without any."""
    if not analogies:
        return ""
    lines = [f'n{one.rank + 1} may work like {one.name} "{one.title}"' for one in analogies]
    return "\n".join((HEAD, *lines, "</analogies>"))


def _make_title(row: Mapping[str, object]) -> str:
    text = row["text"]
    title = title_of(row["title"], text if isinstance(text, list) else [], row["key"])
    return one_line(cut(title, *TITLE_ROOM)).replace('"', "'") or "untitled"
