"""Decides in which vector space questions are compared with partitions.

There are four kinds. ``stored`` uses the embeddings in the graph. ``texts`` embeds the text of
every node (hashing, sentence-transformers). ``digests`` embeds one digest per partition by a paid
endpoint, so that the cost grows with partitions and not with nodes. ``none`` uses no vectors, so
every partition is a candidate.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j.config import EmbedderName
from pgs_neo4j.database.connection import Database
from pgs_neo4j.errors import MappingError
from pgs_neo4j.graph.vectors import unit
from pgs_neo4j.llm.protocol import Embedder, take_lessons
from pgs_neo4j.llm.tracing import embed_traced
from pgs_neo4j.model import GraphMapping
from pgs_neo4j.search.nodes import read_vectors
from pgs_neo4j.search.paths.own_index import OwnIndex
from pgs_neo4j.search.paths.words import find_by_words
from pgs_neo4j.text.commands import EXTEND
from pgs_neo4j.text.shown import counted

FEEDBACK_NODES = 20  # number of nodes whose mean stored vector replaces the question's vector
Kind = Literal["none", "stored", "texts", "digests"]
Embed = Callable[[Embedder, Sequence[str]], Awaitable[NDArray[np.float32]]]
"""Embeds texts into unit rows ``(n, d)``."""


@dataclass(frozen=True, slots=True)
class Space:
    """The vector space of one graph under the settings in force.

    ``model`` is the name of the embedder that made the stored vectors, if it is known. ``embed``
    calls the embedder, and may count its calls.
    """

    kind: Kind
    embedder: Embedder | None = None
    embedding: str | None = None
    model: str | None = None
    embed: Embed = field(default=embed_traced, repr=False, compare=False)

    @property
    def signature(self) -> str | None:
        """The space's part of a generation's fingerprint: a new space needs a new generation."""
        if self.kind == "none":
            return None
        if self.kind == "stored":
            return ":".join(filter(None, ("stored", self.embedding, self.model)))
        return f"{self.kind}:{self.embedder.name if self.embedder else ''}"

    @property
    def threshold(self) -> float | None:
        """The relevance threshold of the space's embedder; None uses the configured threshold."""
        same = self.kind == "texts" or self.made_stored
        return self.embedder.threshold if same and self.embedder else None

    @property
    def made_stored(self) -> bool:
        """Whether this embedder certainly made the stored vectors."""
        embedder = self.embedder
        return embedder is not None and embedder.name == self.model

    @property
    def lexical(self) -> bool:
        """Whether vectors represent words rather than meaning.

        Common words make all lexical vectors similar.
        """
        return self.threshold is not None


@dataclass(frozen=True, slots=True)
class QuestionVector:
    """A question's vector in the graph's space, or None with the reason in ``note``.

    With a vector, ``note`` says what the call revealed about the embedder, or how the vector was
    made. ``borrowed`` means that it is a mean of stored vectors, not an embedding of the question.
    """

    vector: NDArray[np.float32] | None
    note: str = ""
    borrowed: bool = False


def choose(name: EmbedderName | None, embedder: Embedder | None, mapping: GraphMapping) -> Space:
    """Return the space for a graph.

    ``embedder`` is the embedder of that ``name``, None for ``stored``. Raises MappingError for
    ``stored`` if the mapping names no embedding.
    """
    if name == "none":
        return Space("none")
    if name == "stored" and not mapping.embedding:
        raise MappingError(
            "the embedder 'stored' needs the mapping to name an embedding property; run "
            f"{EXTEND} --embedding PROPERTY, or choose another PGS_EMBEDDER"
        )
    model = mapping.embedding_model
    made_vectors = embedder is not None and embedder.name == model
    if mapping.embedding and (name != "hashing" or made_vectors):
        return Space("stored", embedder, mapping.embedding, model)
    if embedder is None:
        return Space("none")
    return Space("digests" if name == "openai" else "texts", embedder)


async def embed_question(
    db: Database,
    space: Space,
    mapping: GraphMapping,
    question: str,
    dimensions: int | None,
    own: OwnIndex | None = None,
) -> QuestionVector:
    """Return the question as a unit vector ``(d,)`` in the graph's space.

    If no embedder fits the stored vectors, the result is a mean of stored vectors, weighted by
    score, of the nodes that share the question's rarest words (pseudo-relevance feedback, Rocchio
    1971). The text index of ``own`` finds these nodes. Without it, all texts are read. Raises
    ModelError if the embedder fails, and StoppedError or ConfigError if a limit forbids its call.
    """
    if space.kind == "none" or dimensions is None:
        return QuestionVector(None, "no embeddings to compare the question with")
    if space.embedder is None:
        return await _borrow_vector(db, space, mapping, question, dimensions, own)
    if space.kind == "stored" and space.model and not space.made_stored:
        borrowed = await _borrow_vector(db, space, mapping, question, dimensions, own)
        note = (
            f"{space.model} made the vectors of the graph, and the embedder is "
            f"{space.embedder.name}, so they cannot be compared"
        )
        return replace(borrowed, note=f"{note}; {borrowed.note}")
    vector = (await space.embed(space.embedder, [question]))[0]
    if len(vector) != dimensions:
        borrowed = await _borrow_vector(db, space, mapping, question, dimensions, own)
        note = (
            f"the embedder {space.embedder.name} makes vectors of {len(vector)} dimensions and "
            f"the graph holds vectors of {dimensions}, so they cannot be compared"
        )
        return replace(borrowed, note=f"{note}; {borrowed.note}")
    if not vector.any():
        return QuestionVector(None, "the question has no words that the embedder knows")
    learned = take_lessons(space.embedder)
    return QuestionVector(unit(vector).astype(np.float32), "; ".join(learned))


async def _borrow_vector(
    db: Database,
    space: Space,
    mapping: GraphMapping,
    question: str,
    dimensions: int,
    own: OwnIndex | None,
) -> QuestionVector:
    if space.kind != "stored" or not space.embedding:
        return QuestionVector(None, "there is nothing to compare the question with")
    best = await _find_lenders(db, mapping, question, own)
    vectors = await read_vectors(db, best, space.embedding, dimensions)
    kept = sorted(vectors, key=lambda node: (-best[node], node))[:FEEDBACK_NODES]
    if not kept:
        return QuestionVector(None, "no node with an embedding holds a word of the question")
    rows = np.asarray([vectors[node] for node in kept], dtype=np.float32)
    scores = np.asarray([best[node] for node in kept])
    nodes = counted(len(kept), "node that shares", "nodes that share")
    note = f"compared by the stored vectors of the {nodes} its words"
    return QuestionVector(unit(scores @ rows).astype(np.float32), note, borrowed=True)


async def _find_lenders(
    db: Database, mapping: GraphMapping, question: str, own: OwnIndex | None
) -> Mapping[str, float]:
    """Return the scores of nodes that share the question's words; some may have no vector."""
    limit = 4 * FEEDBACK_NODES
    return (await find_by_words(db, own, mapping, question, limit)).scores
