"""Reads the texts of nodes that reports cite, and removes ids of deleted nodes from answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import TypeVar, cast

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.model import Answer, Citation, GraphMapping, Partition, Sighting, Sweep
from pgs_neo4j.search.nodes import Place, read_placed

TEXTS = 500  # nodes whose texts are read at once
MOST = 20_000  # maximum nodes to read, more than any answer cites

T = TypeVar("T")


async def read_cited_texts(
    db: Database, mapping: GraphMapping, partitions: Sequence[Partition], sweeps: Sequence[Sweep]
) -> dict[tuple[int, int], str]:
    """Return title and text of each node that a report cites, by partition and rank.

    Deleted nodes are left out. Raises DatabaseError.
    """
    numbers = {partition.id for partition in partitions}
    cited = {
        Place(citation.partition, citation.rank)
        for sweep in sweeps
        if sweep.report is not None
        for citation in sweep.report.citations
        if citation.valid and citation.rank is not None and citation.partition in numbers
    }
    places = sorted(cited)[:MOST]
    texts: dict[tuple[int, int], str] = {}
    for first in range(0, len(places), TEXTS):
        placed = await read_placed(db, mapping, partitions, places[first : first + TEXTS])
        for place, found in placed.items():
            node = found.node
            texts[place.partition, place.rank] = "\n".join(
                (node.title, node.key, *node.labels, node.text)
            )
    return texts


async def locate_answer(db: Database, answer: Answer) -> Answer:
    """Remove the element ids of deleted nodes from an answer. Raises DatabaseError.

    Neo4j may have given such an id to another node by now.
    """
    parts = answer.synthesis, answer.sweeps, answer.crosscheck
    cited = {
        citing.element_id: {
            "element_id": citing.element_id,
            "partition": citing.partition,
            "rank": citing.rank,
        }
        for citing in _find_citing(parts)
        if citing.element_id is not None
    }
    if not cited:
        return answer
    query = queries.get("pgs/checking/read_still_cited")
    rows = await db.read(query, generation=answer.generation, cited=[*cited.values()])
    gone = cited.keys() - {id_ for row in rows for id_ in row["element_ids"]}
    if not gone:
        return answer
    synthesis, sweeps, crosscheck = _remove_ids(parts, gone)
    return replace(answer, synthesis=synthesis, sweeps=sweeps, crosscheck=crosscheck)


def _find_citing(value: object) -> Iterator[Citation | Sighting]:
    """Yield all citations and sightings in a value."""
    if isinstance(value, Citation | Sighting):
        yield value
    elif isinstance(value, tuple):
        for item in value:
            yield from _find_citing(item)
    elif is_dataclass(value):
        for field in fields(value):
            yield from _find_citing(getattr(value, field.name))


def _remove_ids(value: T, gone: set[str]) -> T:
    """Remove these element ids from all citations and sightings in a value."""
    if isinstance(value, Citation | Sighting):
        return replace(value, element_id=None) if value.element_id in gone else value
    if isinstance(value, tuple):
        return cast(T, tuple(_remove_ids(item, gone) for item in value))
    if is_dataclass(value) and not isinstance(value, type):
        held = {field.name: getattr(value, field.name) for field in fields(value) if field.init}
        kept = {name: _remove_ids(item, gone) for name, item in held.items()}
        return cast(T, replace(value, **kept))
    return value
