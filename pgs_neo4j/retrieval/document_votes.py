"""Lets documents vote for partitions, where a graph has passages of documents.

A question about a collection of documents needs several of them, and each is whole in a partition.
The passages of one document repeat each other, and entities repeat what passages say. So every
document has one vote, by its best passage.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.model import GraphMapping, Partition
from pgs_neo4j.model.graph import PART_TYPES
from pgs_neo4j.retrieval.places import Place

HEAD = 3
"""Added to the rank of a document, so that the first does not decide alone (Cormack 2009 has 60 for
long lists). On pages of manuals, 3 and 10 read the same share of the needed text."""


async def read_documents(
    db: Database, mapping: GraphMapping, partitions: Iterable[Partition], places: Iterable[Place]
) -> Mapping[Place, str]:
    """Return the document of each passage among ``places``, as an element id.

    Nodes that are no passages are left out. Raises DatabaseError.
    """
    if not mapping.chunk_labels:
        return {}
    ranks: dict[int, list[int]] = defaultdict(list)
    for place in places:
        ranks[place.partition].append(place.rank)
    uids = {part.id: part.uid for part in partitions}
    rows = await db.read(
        queries.get("retrieval/read_documents"),
        places=[{"partition": uids[part], "ranks": sorted(of)} for part, of in ranks.items()],
        labels=list(mapping.chunk_labels),
        types=list(PART_TYPES),
    )
    return {Place(row["partition"], row["rank"]): row["document"] for row in rows}


def vote_by_documents(places: Sequence[Place], documents: Mapping[Place, str]) -> dict[int, float]:
    """Return the votes of the documents of ``places`` for partitions, the most first.

    ``places`` come best first. A document votes for the partition of its best passage, by the
    reciprocal of its rank among documents. Empty if none is of a document.
    """
    votes: dict[int, float] = defaultdict(float)
    heard: set[str] = set()
    for place in places:
        document = documents.get(place)
        if document is not None and document not in heard:
            votes[place.partition] += 1 / (HEAD + len(heard))
            heard.add(document)
    return dict(sorted(votes.items(), key=lambda pair: (-pair[1], pair[0])))
