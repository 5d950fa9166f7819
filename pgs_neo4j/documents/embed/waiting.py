"""Embeds the texts that have no vector yet, after all documents are published and described."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass

from pgs_neo4j.database.connection import Database
from pgs_neo4j.documents.embed.texts import (
    WaitingText,
    count_unembedded,
    forget_vectors,
    read_fact_texts,
    read_node_texts,
    read_space,
    write_vectors,
)
from pgs_neo4j.documents.order import Embedding, IngestTools
from pgs_neo4j.documents.writer import Writer
from pgs_neo4j.errors import ModelError
from pgs_neo4j.events import Progressed, StepStarted
from pgs_neo4j.llm.calls.embedding import fit_of, fitted_call
from pgs_neo4j.llm.calls.outcome import noting_end
from pgs_neo4j.llm.embedders.fitting import FittedEmbedding, TextVector

BATCH_TEXTS, BATCH_TOKENS = 200, 20_000
"""Most texts of a call, and their tokens."""
MOST_REFUSED = 10
"""Texts that fail alone before an embedder is given up."""
CALLS_AT_ONCE = 5
"""Calls that are queued together, each with its vectors; the queue decides how many are sent."""
CAREFUL_TOKENS = 4_000
"""Most tokens of a call under a limit, so that it leaves little of it unused."""


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
