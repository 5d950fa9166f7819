"""Embeds the texts that have no vector yet, after all documents are published and described."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j.calls.embedding import embed_texts, reads_whole
from pgs_neo4j.calls.outcome import noting_end
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.tasks import together
from pgs_neo4j.errors import (
    EmbeddingError,
    ModelError,
    ModelOutputError,
    PromptCutError,
    PromptTooLongError,
)
from pgs_neo4j.events import Progressed, StepStarted
from pgs_neo4j.ingest.batches import batches
from pgs_neo4j.ingest.embed.texts import (
    WaitingText,
    count_unembedded,
    forget_vectors,
    read_fact_texts,
    read_node_texts,
    read_space,
    write_vectors,
)
from pgs_neo4j.ingest.order import Embedding, IngestTools
from pgs_neo4j.ingest.writer import Writer
from pgs_neo4j.llm.protocol import Shortening
from pgs_neo4j.text.tokens import estimate

BATCH_TEXTS, BATCH_TOKENS = 200, 20_000
"""Most texts of a call, and their tokens."""
MOST_REFUSED = 10
"""Texts that fail alone before an embedder is given up."""
SURELY_READ = 200
"""Tokens that every embedding model reads of a text; the smallest ones read 256."""
CAREFUL_TOKENS = 4_000
"""Most tokens of a call under a limit, so that it leaves little of it unused."""


@dataclass(slots=True)
class TextsEmbedded:
    """How many texts were embedded, and how many wait. ``stopped`` is the limit that ended it.

    ``error`` says why the embedder made no more vectors. ``refused`` counts texts that it failed
    on, and ``refusal`` is the last reason.
    """

    texts: int = 0
    waiting: int = 0
    stopped: str = ""
    error: str = ""
    refused: int = 0
    refusal: str = ""

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
    return work.done


async def _count_missing(db: Database, writer: Writer) -> int:
    space = await read_space(db, writer.graph)
    if space is None:
        return 0
    return (await count_unembedded(db, writer.graph, writer.label, space.model))[0]


def text_batches(texts: Sequence[str], most_tokens: int) -> Iterator[list[str]]:
    """Yield the texts of each call; one that is longer than a call's has its own."""
    return batches(texts, BATCH_TEXTS, most_tokens, estimate)


class _Work:
    """The texts of a graph on their way to vectors."""

    def __init__(self, tools: IngestTools, embedding: Embedding, writer: Writer) -> None:
        self.done = TextsEmbedded()
        self._tools, self._embedding, self._writer = tools, embedding, writer
        self._model = embedding.embedder.name
        self._begun = False
        self._whole = SURELY_READ  # tokens of the longest text that is known to be read as a whole
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
                await self._leave_out_cut(by_text)
                for group in self._groups([*by_text]):
                    await together(*(self._embed(batch, by_text) for batch in group))

    async def _leave_out_cut(self, by_text: dict[str, list[WaitingText]]) -> None:
        """Take out the texts of which the server would embed the beginning alone.

        Its limit is one of tokens in a text, so no text is cut that is shorter than a whole one.
        """
        embedder = self._embedding.embedder
        if not isinstance(embedder, Shortening) or not embedder.may_cut:
            return
        for text in sorted(by_text, key=estimate, reverse=True):
            if estimate(text) <= self._whole or self.done.ended:
                return
            with noting_end(self.done):
                try:
                    if await reads_whole(self._tools.calls, embedder, text):
                        self._whole = estimate(text)
                        return
                except PromptCutError as cut:
                    del by_text[text]
                    self._refuse(str(cut))
                    continue
                except (EmbeddingError, ModelOutputError, PromptTooLongError):
                    return  # it is refused, or fails, where it is embedded
                del by_text[text]
                self._refuse(
                    f"the embedding model {embedder.name} cuts texts of {estimate(text):,} tokens "
                    "and says nothing; use a model with a larger context, or lower chunk_tokens"
                )

    def _groups(self, texts: Sequence[str]) -> Iterator[list[list[str]]]:
        """Yield the calls that are made together: the first one alone.

        An embedder that fails, does so before the vectors of another model are gone.
        """
        calls = [*text_batches(texts, self._tokens)]
        first = 0 if self._begun else 1
        yield from filter(None, (calls[:first], calls[first:]))

    async def _embed(self, batch: list[str], by_text: dict[str, list[WaitingText]]) -> None:
        if self.done.ended:
            return

        async def write(vectors: NDArray[np.float32]) -> None:
            """Write vectors ``(n, d)`` before the next call."""
            await self._begin()
            texts = [one for text in batch for one in by_text[text]]
            rows = np.repeat(vectors, [len(by_text[text]) for text in batch], axis=0)
            await write_vectors(self._tools.db, self._writer, self._model, texts, rows)
            self.done.texts += len(texts)
            self._tools.on_event(Progressed("ingest", self.done.texts, 0, "texts embedded"))

        with noting_end(self.done):
            try:
                await embed_texts(self._tools.calls, self._embedding.embedder, batch, write)
            except (EmbeddingError, ModelOutputError, PromptTooLongError) as error:
                await self._embed_halves(batch, by_text, error)

    async def _embed_halves(
        self, batch: list[str], by_text: dict[str, list[WaitingText]], error: ModelError
    ) -> None:
        """Ask for the halves of a call that failed; a text that fails alone waits.

        After some of these, nothing more is asked for: the embedder fails, and not its texts.
        """
        if len(batch) > 1:
            middle = len(batch) // 2
            await self._embed(batch[:middle], by_text)
            await self._embed(batch[middle:], by_text)
            return
        self._refuse(str(error))

    def _refuse(self, why: str) -> None:
        self.done.refused += 1
        self.done.refusal = why
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
