"""Embeds the texts of a graph that have no vector, after all documents are published and described.

Nodes and facts are embedded. What an ingestion will cost in embeddings is predicted here, without
calling a model.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from math import ceil

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.queries import Row
from pgs_neo4j.documents.order import Embedding, IngestOrder, IngestTools
from pgs_neo4j.documents.publish.publication import entity_label, fact_vector, text_part
from pgs_neo4j.documents.publish.writer import Writer, lost_right
from pgs_neo4j.documents.stored import StoredChunk
from pgs_neo4j.documents.wanted import WantedDocument
from pgs_neo4j.errors import ModelError
from pgs_neo4j.events import Progressed, StepStarted
from pgs_neo4j.llm.calls.embedding import EmbeddingModel, fit_of, fitted_call, priced_model
from pgs_neo4j.llm.calls.outcome import noting_end
from pgs_neo4j.llm.embedders.fitting import FittedEmbedding, TextVector
from pgs_neo4j.model import PlannedCalls
from pgs_neo4j.model.ingest import EmbeddingForecast
from pgs_neo4j.text.tokens import estimate, estimate_bytes

PAGE = 1_000
"""Texts that are read together."""
BATCH_TEXTS, BATCH_TOKENS = 200, 20_000
"""Most texts of a call, and their tokens."""
MOST_REFUSED = 10
"""Texts that fail alone before an embedder is given up."""
CALLS_AT_ONCE = 5
"""Calls that are queued together, each with its vectors; the queue decides how many are sent."""
CAREFUL_TOKENS = 4_000
"""Most tokens of a call under a limit, so that it leaves little of it unused."""
FOUND_A_CHUNK, FOUND_TOKENS = 23, 25
"""Names and facts that are usual for a chunk, and the tokens of each."""


@dataclass(slots=True)
class TextsEmbedded:
    """How many texts were embedded, and how many wait. ``stopped`` is the limit that ended it.

    Nothing proves that ``unproven`` others were read as a whole; they have a vector as well.
    ``error`` says why the embedder made no more vectors. ``refused`` counts texts that it failed
    on, ``refusal`` is the last reason, and ``places`` are the first of these nodes and facts.
    ``notes`` say what was learned of its endpoint.
    """

    texts: int = 0
    unproven: int = 0
    waiting: int = 0
    stopped: str = ""
    error: str = ""
    refused: int = 0
    refusal: str = ""
    places: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def made(self) -> int:
        """How many texts got a vector."""
        return self.texts + self.unproven

    @property
    def why(self) -> str:
        """Why texts wait, other than a limit."""
        return self.error or self.refusal

    @property
    def ended(self) -> bool:
        """Whether no more calls are to be made."""
        return bool(self.stopped or self.error)


async def embed_waiting(tools: IngestTools, writer: Writer, *, stopped: str) -> TextsEmbedded:
    """Embed all texts of the view that have no vector of the embedder.

    Each reply is written before the next call. ``stopped`` is the limit that ended the ingestion
    before, after which all wait. Without an embedder, the texts that lack vectors are counted, in a
    graph that has some. Raises DatabaseError and LeaseLostError.
    """
    db = tools.db
    if tools.embedding is None:
        return TextsEmbedded(waiting=await _count_missing(db, writer))
    model = tools.embedding.embedder.name
    work = _Work(tools, tools.embedding, writer)
    work.done.stopped = stopped
    tools.on_event(StepStarted("ingest", "vectors"))
    for pages in (read_node_texts(db, writer, model), read_fact_texts(db, writer, model)):
        await work.embed(pages)
    if work.done.ended or work.done.refused:
        work.done.waiting, _ = await count_unembedded(db, writer.graph, writer.label, model)
    work.done.notes = tools.calls.take_lessons(tools.embedding.embedder)
    return work.done


async def _count_missing(db: Database, writer: Writer) -> int:
    space = await read_space(db, writer.graph)
    if space is None:
        return 0
    return (await count_unembedded(db, writer.graph, writer.label, space.model))[0]


class _Work:
    """The texts of a graph on their way to vectors."""

    def __init__(self, tools: IngestTools, embedding: Embedding, writer: Writer) -> None:
        self.done = TextsEmbedded()
        self._tools, self._embedding, self._writer = tools, embedding, writer
        self._model = embedding.embedder.name
        self._begun = False
        self._fit = fit_of(embedding.embedder)
        bounds = tools.calls.budget.bounds
        limited = (bounds.tokens, bounds.cost) != (None, None)
        self._tokens = CAREFUL_TOKENS if limited else BATCH_TOKENS

    async def embed(self, pages: AsyncGenerator[list[WaitingText]]) -> None:
        """Embed pages of texts; those that are equal within a page once."""
        async with aclosing(pages):
            async for page in pages:
                if self.done.ended:
                    return
                by_text: dict[str, list[WaitingText]] = {}
                for one in page:
                    by_text.setdefault(one.text, []).append(one)
                with noting_end(self.done):
                    await self._embed(by_text)

    async def _embed(self, by_text: dict[str, list[WaitingText]]) -> None:
        """Embed texts. The vectors of a call are written before the next one.

        The first call is made alone: an embedder that fails, does so before the vectors of another
        model are gone.
        """
        texts = [*by_text]

        async def write(vectors: Sequence[TextVector]) -> None:
            await self._begin()
            placed = [(one, by_text[texts[one.place]]) for one in vectors]
            waiting = [one for _, some in placed for one in some]
            rows = [vector.vector for vector, some in placed for _ in some]
            await write_vectors(self._tools.db, self._writer, self._model, waiting, rows)
            for vector, some in placed:
                if vector.proven:
                    self.done.texts += len(some)
                else:
                    self.done.unproven += len(some)
            self._tools.on_event(Progressed("ingest", self.done.made, 0, "texts embedded"))

        def refuse(place: int, error: ModelError) -> None:
            self._refuse(by_text[texts[place]], str(error))

        embedding = FittedEmbedding(
            embedder=self._embedding.embedder,
            fit=self._fit,
            call=fitted_call(self._tools.calls, self._embedding.embedder),
            take=write,
            refuse=refuse,
            most_texts=BATCH_TEXTS,
            most_tokens=self._tokens,
            workers=CALLS_AT_ONCE,
            alone=not self._begun,
            ended=lambda: self.done.ended,
        )
        await embedding.embed(texts)

    def _refuse(self, waiting: Sequence[WaitingText], why: str) -> None:
        """Note a text that the embedder fails on. After some, nothing more is asked for."""
        self.done.refused += 1
        self.done.refusal = why
        named = [*self.done.places, *(one.name for one in waiting)]
        self.done.places = tuple(named[:MOST_REFUSED])
        if self.done.refused == MOST_REFUSED:
            self.done.error = why

    async def _begin(self) -> None:
        """Make room for the vectors of this embedder, if the graph has those of another one."""
        if self._begun:
            return
        db = self._tools.db
        space = await read_space(db, self._writer.graph, self._model)
        if space is not None and space.model != self._model:
            await forget_vectors(db, self._writer, self._model)
        await self._embedding.begin()
        self._begun = True


@dataclass(frozen=True, slots=True)
class WaitingText:
    """A text of a node or relationship; ``place`` has the ids that find it again."""

    place: Row
    text: str

    @property
    def name(self) -> str:
        """Its id, or the ends and the type of a fact, for notes."""
        if "id" in self.place:
            return str(self.place["id"])
        return f"{self.place['source']} {self.place['type']} {self.place['target']}"


@dataclass(frozen=True, slots=True)
class VectorSpace:
    """The model that made the vectors of a graph, and their length."""

    model: str
    dimensions: int


def entity_text(name: str | None, description: str | None) -> str:
    """Return the text that stands for an entity: its name and description.

    A name alone says little about what an entity is, and namesakes share it.
    """
    return ": ".join(filter(None, (name, description)))


async def read_space(db: Database, graph: str, other: str = "") -> VectorSpace | None:
    """Return the space of a graph's vectors, preferably of another model than ``other``.

    Raises DatabaseError.
    """
    query = queries.get("documents/vectors/read_vector_models")
    rows = await db.read(query, graph=graph, other=other)
    return VectorSpace(rows[0]["model"], rows[0]["dimensions"]) if rows else None


async def count_unembedded(db: Database, graph: str, label: str, model: str) -> tuple[int, int]:
    """Return how many texts have no vector of a model, and their characters."""
    query = queries.get("documents/vectors/count_unembedded")
    (row,) = await db.read(query, graph=graph, model=model, entities=entity_label(label))
    return row["texts"], row["characters"]


async def read_node_texts(
    db: Database, writer: Writer, model: str
) -> AsyncGenerator[list[WaitingText]]:
    """Yield the texts of nodes that have no vector of a model, page by page."""
    query, after = queries.get("documents/vectors/read_unembedded_nodes"), ""
    wanted: Row = {"graph": writer.graph, "model": model, "most": PAGE}
    wanted |= {"entities": entity_label(writer.label)}
    while rows := await db.read(query, **wanted, after=after):
        yield [
            WaitingText(
                {"id": row["id"]}, row["text"] or entity_text(row["name"], row["description"])
            )
            for row in rows
        ]
        after = rows[-1]["id"]


async def read_fact_texts(
    db: Database, writer: Writer, model: str
) -> AsyncGenerator[list[WaitingText]]:
    """Yield the facts that have no vector of a model, page by page."""
    query, after = queries.get("documents/vectors/read_unembedded_facts"), ("", "", "")
    wanted: Row = {"graph": writer.graph, "model": model, "most": PAGE}
    while rows := await db.read(
        query, **wanted, **dict(zip(("source", "type", "target"), after, strict=True))
    ):
        yield [WaitingText(row, row.pop("text") or "") for row in rows]
        after = rows[-1]["source"], rows[-1]["type"], rows[-1]["target"]


async def write_vectors(
    db: Database,
    writer: Writer,
    model: str,
    texts: Sequence[WaitingText],
    vectors: Sequence[NDArray[np.float32]],
) -> None:
    """Write the vectors ``(d,)`` of some texts; nothing is written for zeros.

    Raises DatabaseError and LeaseLostError.
    """
    given: Row = {"graph": writer.graph, "holder": writer.holder, "model": model}
    given |= {"rows": [], "blank": []}
    for one, vector in zip(texts, vectors, strict=True):
        if vector.any():
            given["rows"].append({**one.place, "vector": vector.tolist()})
        else:
            given["blank"].append(one.place.get("id", one.place))
    if "id" in texts[0].place:
        written = await db.write(queries.get("documents/vectors/write_node_vectors"), **given)
    else:
        query = queries.get("documents/vectors/write_fact_vectors")
        written = await db.write(query, **given, vector=fact_vector(writer.label))
    if not written:
        raise lost_right(writer.graph)


async def forget_vectors(db: Database, writer: Writer, model: str) -> None:
    """Remove the vectors of other models: facts first, since nodes show that there are any.

    Raises DatabaseError and LeaseLostError.
    """
    held = {"graph": writer.graph, "holder": writer.holder, "model": model, "most": PAGE}
    facts, after = queries.get("documents/vectors/forget_facts"), ""
    while after is not None:
        rows = await db.write(facts, **held, vector=fact_vector(writer.label), after=after)
        if not rows:
            raise lost_right(writer.graph)
        after = rows[0]["last"]
    nodes = queries.get("documents/vectors/forget_nodes")
    while rows := await db.write(nodes, **held):
        if not rows[0]["removed"]:
            return
    raise lost_right(writer.graph)


@dataclass(slots=True)
class EmbeddingTally:
    """The texts that an ingestion would embed, as far as they are known.

    ``chunks`` and ``tokens`` are of new chunks, ``extracted`` counts those to be extracted.
    """

    chunks: int = 0
    tokens: int = 0
    extracted: int = 0

    def add(
        self,
        documents: Iterable[WantedDocument],
        stored: Mapping[str, Sequence[StoredChunk]],
        missing: set[str],
    ) -> None:
        """Add the chunks of documents whose texts the graph does not hold in these documents.

        ``missing`` are the keys of extractions that are to be made.
        """
        for document in documents:
            known = {text_part(chunk.id) for id_ in document.former for chunk in stored[id_]}
            new = [chunk for chunk in document.chunks if text_part(chunk.id) not in known]
            self.chunks += len(new)
            self.tokens += sum(estimate(chunk.chunk.text) for chunk in new)
            self.extracted += sum(chunk.extraction_key in missing for chunk in document.chunks)

    async def forecast(self, order: IngestOrder, tools: IngestTools) -> EmbeddingForecast | None:
        """Return what would be embedded, None without an embedder. Raises DatabaseError."""
        if tools.embedding is None:
            return None
        embedder = tools.embedding.embedder
        waiting, characters = await count_unembedded(
            tools.db, order.graph, order.label, embedder.name
        )
        model, texts = priced_model(embedder), self.chunks + waiting
        found = FOUND_A_CHUNK * self.extracted
        return EmbeddingForecast(
            model=model.name,
            free=model.free,
            priced=model.free or tools.calls.budget.price(model.name, 1, 0) is not None,
            texts=texts,
            found=found,
            calls=_calls(model, texts, self.tokens + estimate_bytes(characters)),
            more=_calls(model, found, found * FOUND_TOKENS),
        )


def _calls(model: EmbeddingModel, texts: int, tokens: int) -> PlannedCalls:
    if model.free:
        return PlannedCalls()
    calls = max(ceil(texts / BATCH_TEXTS), ceil(tokens / BATCH_TOKENS))
    return PlannedCalls(calls=calls, input_tokens=tokens)
