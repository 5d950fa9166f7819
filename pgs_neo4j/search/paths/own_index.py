"""Finds nodes by the text index beside the partitions of a graph.

A node's score is BM25 (Robertson and Zaragoza 2009). It sums, over the question's terms that its
text contains, each term's rarity times its impact on the text. A search counts a term as often as
the question repeats it. Routing multiplies the score by the square root of the text's coverage: the
rarity of the question's terms that the text contains, divided by the rarity of all its terms.
Routing looks for the single node that a question is about, so a long text with every word should
outweigh a short text with some of them. This factor would make a search for all nodes on a subject
worse.

Searches and routing both rescore the best nodes by their full texts. If a question is the title of
a node, the index may lack its words, or thousands of texts may contain them. Then only the title
and the adjacent words distinguish this node from the others. A search also counts words related to
the question, which finds more on a subject. Routing does not, because it would then read fewer
relevant partitions.

Questions about one subject lead to the same texts again and again, so the words of the last texts
are cached. The cache contains hashes, so no text outlives its deletion here.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import pairwise
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j.database.connection import Database
from pgs_neo4j.model import Generation, GraphMapping, Partition
from pgs_neo4j.search.nodes import Place, PlacedNode, read_placed
from pgs_neo4j.search.paths.walk import Hits
from pgs_neo4j.search.text_index import KnownTexts, TextIndex, read_index
from pgs_neo4j.text.node_text import searched_text
from pgs_neo4j.text.ranking import rarity
from pgs_neo4j.text.terms.postings import FULL, count_question
from pgs_neo4j.text.terms.rescoring import Candidate, Tokens, read_tokens, rescore
from pgs_neo4j.text.terms.spans import HashArray

CANDIDATES = 100
"""Number of nodes that a search scores again by their texts, unless more are wanted."""
HEAD = 6_000
"""Characters of each property that are read to score a node again. The index covers the rest."""
MOST_KEPT = 1 << 20
"""Size of the cache in words: about 25 MB, or 10,000 abstracts."""
PER_TEXT = 40
"""The overhead of a cached text, as the number of words that take the same memory."""
TokensOfText = tuple[HashArray, HashArray, NDArray[np.bool_], NDArray[np.bool_]]
"""Families, terms, ``common``, and ``in_row`` of a single text, ``(t,)`` each."""


@dataclass(frozen=True, slots=True)
class OwnIndex:
    """The current generation of a graph, with a text index to search.

    ``texts`` caches the places of its texts. ``changed`` means that the graph may have changed
    since then, so the index may lack new texts and still contain deleted ones.
    """

    generation: Generation
    partitions: Sequence[Partition]
    texts: KnownTexts | None = None
    changed: bool = False


async def find_by_own_index(
    db: Database, own: OwnIndex, mapping: GraphMapping, question: str, k: int
) -> Hits | None:
    """Return the ``k`` nodes that match the question's words best, as of the last partitioning.

    Returns None if a partition has no text index. Raises DatabaseError.
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

    ``best`` has their scores by the ``index``, which are the basis of the new scores. Nodes with
    equal scores keep the order of ``best``. ``related`` also counts words of the best texts.
    Deleted nodes are left out. Raises DatabaseError.
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
    """Return the scores of the ``k`` best texts of some partitions, best first.

    ``times`` says how often the question repeats each term. With ``times``, the scores are those of
    a search, and without it, those of routing. Texts without a term are left out.
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


class RecentTokens:
    """Caches the words of the last texts, ``most`` words in all. Threads may share it."""

    def __init__(self, most: int = MOST_KEPT) -> None:
        self._most = most
        self._size = 0
        self._lock = Lock()
        self._known: OrderedDict[bytes, TokensOfText] = OrderedDict()

    @property
    def size(self) -> int:
        """The number of cached words, plus ``PER_TEXT`` for each text."""
        return self._size

    def read(self, texts: Sequence[str]) -> Tokens:
        """Return the words of texts, as :func:`read_tokens` does."""
        keys = [_key_of(text) for text in texts]
        found = self._find(keys)
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in found}
        if missing:
            fresh = _split_by_text(read_tokens([*missing.values()]), len(missing))
            read = dict(zip(missing, fresh, strict=True))
            self._keep(read)
            found |= read
        return _join_texts([found[key] for key in keys])

    def _find(self, keys: Sequence[bytes]) -> dict[bytes, TokensOfText]:
        with self._lock:
            found = {key: self._known[key] for key in keys if key in self._known}
            for key in found:
                self._known.move_to_end(key)
        return found

    def _keep(self, read: dict[bytes, TokensOfText]) -> None:
        with self._lock:
            for key, tokens in read.items():
                if key not in self._known:  # Another thread may have read it at the same time.
                    self._known[key] = tokens
                    self._size += _size_of(tokens)
            while self._size > self._most:
                self._size -= _size_of(self._known.popitem(last=False)[1])


def _key_of(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _size_of(tokens: TokensOfText) -> int:
    return PER_TEXT + len(tokens[0])


def _split_by_text(tokens: Tokens, count: int) -> Iterator[TokensOfText]:
    """Yield the words of each of ``count`` texts, copied so that no large array stays in memory."""
    edges = np.searchsorted(tokens.texts, np.arange(count + 1)).tolist()
    for start, end in pairwise(edges):
        part = slice(start, end)
        yield (
            tokens.families[part].copy(),
            tokens.terms[part].copy(),
            tokens.common[part].copy(),
            tokens.in_row[part].copy(),
        )


def _join_texts(texts: Sequence[TokensOfText]) -> Tokens:
    if not texts:
        return read_tokens([])
    families, terms, common, in_row = map(np.concatenate, zip(*texts, strict=True))
    lengths = [len(of_text[0]) for of_text in texts]
    return Tokens(families, terms, np.repeat(np.arange(len(texts)), lengths), common, in_row)


RECENT_TOKENS = RecentTokens()
"""The cache that the whole process shares."""
