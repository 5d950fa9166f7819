"""Finds nodes by the text index beside the partitions of a graph."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from pgs_neo4j.database.connection import Database
from pgs_neo4j.model import Generation, GraphMapping, Partition
from pgs_neo4j.retrieval.evidence import score_nodes
from pgs_neo4j.retrieval.paths.hits import Hits
from pgs_neo4j.retrieval.places import read_placed
from pgs_neo4j.retrieval.text_index import KnownTexts, read_index
from pgs_neo4j.text.terms.postings import terms_of


@dataclass(frozen=True, slots=True)
class OwnIndex:
    """The current generation of a graph, whose text index can be asked.

    ``texts`` keeps what was read of it.
    """

    generation: Generation
    partitions: Sequence[Partition]
    texts: KnownTexts | None = None


async def find_by_own_index(
    db: Database, own: OwnIndex, mapping: GraphMapping, question: str, k: int
) -> Hits | None:
    """Return the ``k`` nodes that hold the question's words best, as of the last partitioning.

    None if a partition has no text index. Raises DatabaseError.
    """
    terms = terms_of(question)
    generation = own.generation
    index = await read_index(db, generation.id, generation.partition_count, terms, own.texts)
    if index is None:
        return None
    scored = score_nodes(index, terms, [part.id for part in own.partitions])
    best = dict(islice(scored.items(), k))
    placed = await read_placed(db, mapping, own.partitions, best, most_characters=0)
    scores = {
        str(placed[place].row["element_id"]): score
        for place, score in best.items()
        if place in placed
    }
    return Hits("text index of the partitions", scores)
