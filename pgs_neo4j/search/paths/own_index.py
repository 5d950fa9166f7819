"""Finds nodes by the text index beside the partitions of a graph.

A node's score is BM25 (Robertson and Zaragoza 2009): the sum, over the question's terms that its
text holds, of the term's rarity times its impact on the text. A search counts a term as often as
the question repeats it. Routing multiplies the score by the root of the share of the question,
weighted by rarity, that the text holds at all: it looks for the single node that a question is
about, so a long text with every word outweighs a short one with some. Searches for all nodes on a
subject lose by that factor.

Both score the best nodes again by their texts. A question that is the title of a node holds words
which the index lacks, or which are in thousands of longer and shorter texts; only titles and words
side by side tell this node from the others. Only a search counts words related to the question as
well: they find more on a subject, and with them routing would read fewer partitions that hold it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from pgs_neo4j.database.connection import Database
from pgs_neo4j.model import Generation, GraphMapping, Partition
from pgs_neo4j.search.paths.hits import Hits
from pgs_neo4j.search.places import Place, PlacedNode, read_placed
from pgs_neo4j.search.recent_tokens import RECENT_TOKENS
from pgs_neo4j.search.text_index import KnownTexts, TextIndex, read_index
from pgs_neo4j.text.node_text import searched_text
from pgs_neo4j.text.ranking import rarity
from pgs_neo4j.text.terms.postings import FULL, count_question
from pgs_neo4j.text.terms.rescoring import Candidate, rescore

CANDIDATES = 100
"""Nodes of a search that are scored again by their texts, unless more are wanted."""
HEAD = 6_000
"""Characters of each property that are read for it. Beyond, the index alone decides."""


@dataclass(frozen=True, slots=True)
class OwnIndex:
    """The current generation of a graph, whose text index can be asked.

    ``texts`` keeps what was read of it. ``changed``: the graph may have changed since, so the index
    may lack texts, and hold texts that are gone.
    """

    generation: Generation
    partitions: Sequence[Partition]
    texts: KnownTexts | None = None
    changed: bool = False


async def find_by_own_index(
    db: Database, own: OwnIndex, mapping: GraphMapping, question: str, k: int
) -> Hits | None:
    """Return the ``k`` nodes that hold the question's words best, as of the last partitioning.

    None if a partition has no text index. Raises DatabaseError.
    """
    terms, generation = count_question(question), own.generation
    index = await read_index(db, generation.id, generation.partition_count, terms, own.texts)
    if index is None:
        return None
    ids = [part.id for part in own.partitions]
    best = score_nodes(index, list(terms), ids, max(k, CANDIDATES), times=terms)
    scored = await score_texts(db, mapping, own.partitions, question, index, best)
    nodes = {str(placed.row["element_id"]): score for placed, score in scored[:k]}
    return Hits("text index of the partitions", nodes)


async def score_texts(
    db: Database,
    mapping: GraphMapping,
    partitions: Sequence[Partition],
    question: str,
    index: TextIndex,
    best: Mapping[Place, float],
    *,
    related: bool = True,
) -> list[tuple[PlacedNode, float]]:
    """Return nodes with their scores by titles and texts, best first.

    Equal ones are in the order of ``best``, which holds the scores that nodes have in any
    case, by the ``index``. ``related`` counts words of the best texts as well. Nodes that are gone
    are left out. Raises DatabaseError.
    """
    found = await read_placed(db, mapping, partitions, best, most_characters=HEAD)
    nodes = [found[place] for place in best if place in found]
    candidates = [
        Candidate(
            searched_text([one.row["title"]]), searched_text(one.row["text"]), best[one.place]
        )
        for one in nodes
    ]
    holders = {term: len(held) for term, held in index.postings.items()}
    scores = await asyncio.to_thread(
        rescore,
        question,
        candidates,
        holders,
        index.size,
        related=related,
        read=RECENT_TOKENS.read,
    )
    return sorted(zip(nodes, scores, strict=True), key=lambda pair: -pair[1])


def score_nodes(
    index: TextIndex,
    terms: Sequence[int],
    partition_ids: Collection[int],
    k: int,
    *,
    times: Mapping[int, int] | None = None,
) -> dict[Place, float]:
    """Return the scores of the ``k`` texts of some partitions that match best, best first.

    With ``times``, how often the question repeats each term, they are those of a search; without,
    those of routing.
    """
    score, share = np.zeros(len(index.partition_ids)), np.zeros(len(index.partition_ids))
    size, total = index.size, 0.0
    for term in terms:
        found = index.of_term(term)
        weight = rarity(size, len(found)) if len(found) else 0.0
        repeated = times[term] if times else 1
        score[found.texts] += repeated * weight / FULL * found.impacts
        share[found.texts] += weight
        total += weight
    places = np.flatnonzero(score > 0)
    if times is None:
        score[places] *= np.sqrt(share[places] / total)
    owners = index.partition_ids[places]
    # A table is many times faster than np.isin for a million texts.
    wanted = np.zeros(max(int(owners.max(initial=0)), max(partition_ids, default=0)) + 1, np.bool_)
    wanted[list(partition_ids)] = True
    places = places[wanted[owners]]
    if len(places) > k:
        least = np.partition(score[places], -k)[-k]
        places = places[score[places] >= least]
    order = np.lexsort((index.ranks[places], index.partition_ids[places], -score[places]))
    return {
        Place(int(index.partition_ids[at]), int(index.ranks[at])): float(score[at])
        for at in places[order][:k]
    }
