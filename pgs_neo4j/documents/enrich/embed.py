"""Embeds the texts of a graph without a vector, after all documents are published and described.

Nodes and facts are embedded. The module also predicts the embedding calls of an ingestion, without
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
from pgs_neo4j.documents.publish.writer import Writer, writing_lost_error
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
"""Number of texts that are read together."""
BATCH_TEXTS, BATCH_TOKENS = 200, 20_000
"""Maximum texts of a call, and maximum tokens of all its texts."""
MOST_REFUSED = 10
"""Number of texts that the embedder may refuse before all its calls end."""
CALLS_AT_ONCE = 5
"""Number of calls that are queued together, which bounds the memory for vectors. The queue decides
how many of these calls are sent at once."""
CAREFUL_TOKENS = 4_000
"""Maximum tokens of a call if the user set a limit, because small calls leave less of the limit
unused."""
FOUND_A_CHUNK, FOUND_TOKENS = 23, 25
"""Typical number of names and facts per chunk, and typical tokens of each name or fact."""


@dataclass(slots=True)
class TextsEmbedded:
    """The numbers of texts that were embedded, and that still wait for a vector.

    ``unproven`` counts further texts with a vector, but without proof that the embedder read them
    completely. ``stopped`` is the limit that ended the work, and ``error`` is the failure that
    ended the work. ``refused`` counts the texts that the embedder refused, ``refusal`` is the last
    reason, and ``places`` names the first of these nodes and facts. ``notes`` say what the calls
    revealed about the embedder's endpoint.
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
        """The number of texts that got a vector."""
        return self.texts + self.unproven

    @property
    def why(self) -> str:
        """The reason why texts still wait, empty if the reason is a limit."""
        return self.error or self.refusal

    @property
    def ended(self) -> bool:
        """Whether a limit or a failure ended all calls."""
        return bool(self.stopped or self.error)


async def embed_waiting(tools: IngestTools, writer: Writer, *, stopped: str) -> TextsEmbedded:
    """Embed all texts of the view that have no vector of the embedder.

    The vectors of each reply are written before the next call. If ``stopped`` names a limit that
    ended the ingestion earlier, all texts wait. Without an embedder, the texts without a vector are
    only counted, and only if the graph has vectors. Raises DatabaseError and LeaseLostError.
    """
    db = tools.db
    if tools.embedding is None:
        return TextsEmbedded(waiting=await _count_missing(db, writer))
    model = tools.embedding.embedder.name
    work = _TextEmbedder(tools, tools.embedding, writer)
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


class _TextEmbedder:
    """Embeds the texts of a graph page by page, and counts the results in ``done``."""

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
        """Embed pages of texts. Equal texts within a page are embedded once."""
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
        """Embed texts, and write the vectors of each call before the next call.

        The first call is made alone. So if the embedder fails, it fails before the vectors of
        another model are deleted.
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
        """Record a text that the embedder refused. After ``MOST_REFUSED`` texts, end all calls."""
        self.done.refused += 1
        self.done.refusal = why
        named = [*self.done.places, *(one.name for one in waiting)]
        self.done.places = tuple(named[:MOST_REFUSED])
        if self.done.refused == MOST_REFUSED:
            self.done.error = why

    async def _begin(self) -> None:
        """Prepare the first write: delete the vectors of another model, if the graph has any."""
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
    """A text of a node or relationship. A statement finds its place by the ids in ``place``."""

    place: Row
    text: str

    @property
    def name(self) -> str:
        """The id of a node, or the ends and type of a fact. Notes show this name."""
        if "id" in self.place:
            return str(self.place["id"])
        return f"{self.place['source']} {self.place['type']} {self.place['target']}"


@dataclass(frozen=True, slots=True)
class VectorSpace:
    """The model that made the vectors of a graph, and the length of these vectors."""

    model: str
    dimensions: int


def entity_text(name: str | None, description: str | None) -> str:
    """Return the text to embed for an entity: its name and description.

    A name alone says little about an entity, and different entities may share it.
    """
    return ": ".join(filter(None, (name, description)))


async def read_space(db: Database, graph: str, other: str = "") -> VectorSpace | None:
    """Return the vector space of a graph, None if it has no vectors. Raises DatabaseError.

    If the graph has vectors of several models, a model other than ``other`` is preferred.
    """
    query = queries.get("documents/enrich/read_vector_models")
    rows = await db.read(query, graph=graph, other=other)
    return VectorSpace(rows[0]["model"], rows[0]["dimensions"]) if rows else None


async def count_unembedded(db: Database, graph: str, label: str, model: str) -> tuple[int, int]:
    """Return the number of texts without a vector of a model, and the total of their characters."""
    query = queries.get("documents/enrich/count_unembedded")
    (row,) = await db.read(query, graph=graph, model=model, entities=entity_label(label))
    return row["texts"], row["characters"]


async def read_node_texts(
    db: Database, writer: Writer, model: str
) -> AsyncGenerator[list[WaitingText]]:
    """Yield pages of the nodes' texts without a vector of a model."""
    query, after = queries.get("documents/enrich/read_unembedded_nodes"), ""
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
    """Yield pages of the facts without a vector of a model."""
    query, after = queries.get("documents/enrich/read_unembedded_facts"), ("", "", "")
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
    """Write the vectors ``(d,)`` of some texts; a zero vector is not stored.

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
        written = await db.write(queries.get("documents/enrich/write_node_vectors"), **given)
    else:
        query = queries.get("documents/enrich/write_fact_vectors")
        written = await db.write(query, **given, vector=fact_vector(writer.label))
    if not written:
        raise writing_lost_error(writer.graph)


async def forget_vectors(db: Database, writer: Writer, model: str) -> None:
    """Remove the vectors of other models.

    The vectors of facts are removed first. So after an interruption, the nodes still show that
    vectors of another model remain. Raises DatabaseError and LeaseLostError.
    """
    held = {"graph": writer.graph, "holder": writer.holder, "model": model, "most": PAGE}
    facts, after = queries.get("documents/enrich/forget_facts"), ""
    while after is not None:
        rows = await db.write(facts, **held, vector=fact_vector(writer.label), after=after)
        if not rows:
            raise writing_lost_error(writer.graph)
        after = rows[0]["last"]
    nodes = queries.get("documents/enrich/forget_nodes")
    while rows := await db.write(nodes, **held):
        if not rows[0]["removed"]:
            return
    raise writing_lost_error(writer.graph)


@dataclass(slots=True)
class EmbeddingTally:
    """The texts that an ingestion is known to embed.

    ``chunks`` and ``tokens`` count new chunks and their tokens. ``extracted`` counts the chunks to
    extract.
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
        """Count the chunks whose texts are new to their documents.

        ``missing`` has the keys of the extractions to make.
        """
        for document in documents:
            known = {text_part(chunk.id) for id_ in document.former for chunk in stored[id_]}
            new = [chunk for chunk in document.chunks if text_part(chunk.id) not in known]
            self.chunks += len(new)
            self.tokens += sum(estimate(chunk.chunk.text) for chunk in new)
            self.extracted += sum(chunk.extraction_key in missing for chunk in document.chunks)

    async def forecast(self, order: IngestOrder, tools: IngestTools) -> EmbeddingForecast | None:
        """Return the forecast of the embedding calls of an ingestion, None without an embedder.

        Raises DatabaseError.
        """
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
            calls=_plan_calls(model, texts, self.tokens + estimate_bytes(characters)),
            more=_plan_calls(model, found, found * FOUND_TOKENS),
        )


def _plan_calls(model: EmbeddingModel, texts: int, tokens: int) -> PlannedCalls:
    if model.free:
        return PlannedCalls()
    calls = max(ceil(texts / BATCH_TEXTS), ceil(tokens / BATCH_TOKENS))
    return PlannedCalls(calls=calls, input_tokens=tokens)
