"""Reads the texts of the nodes that reports cite, in which the answer's claims are looked up."""

from __future__ import annotations

from collections.abc import Sequence

from pgs_neo4j.database.connection import Database
from pgs_neo4j.model import GraphMapping, Partition, Sweep
from pgs_neo4j.search.places import Place, read_placed

TEXTS = 500  # nodes whose texts are read at once
MOST = 20_000  # nodes; no answer cites as many


async def read_cited_texts(
    db: Database, mapping: GraphMapping, partitions: Sequence[Partition], sweeps: Sequence[Sweep]
) -> dict[tuple[int, int], str]:
    """Return title and text of each node that a report cites, by partition and rank.

    Nodes that are gone are left out. Raises DatabaseError.
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
        for place, one in placed.items():
            node = one.node
            texts[place.partition, place.rank] = "\n".join(
                (node.title, node.key, *node.labels, node.text)
            )
    return texts
