"""Extracts the chunks whose extractions are not stored yet; each text only once."""

from __future__ import annotations

import asyncio
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from pgs_neo4j.database.tasks import together
from pgs_neo4j.documents.extract.kept import read_kept
from pgs_neo4j.documents.extract.prompts import share_prompts
from pgs_neo4j.documents.order import Extractor, IngestOrder, IngestTools
from pgs_neo4j.documents.stored import EXTRACTION, StoredChunk
from pgs_neo4j.documents.wanted import WantedChunk, WantedDocument
from pgs_neo4j.errors import ModelError, ModelOutputError, StoppedError
from pgs_neo4j.llm.calls.outcome import ends_calls
from pgs_neo4j.llm.own_models import await_extractions, said_by
from pgs_neo4j.model.documents import GroundedExtraction
from pgs_neo4j.text.extraction.additions import add_given
from pgs_neo4j.text.extraction.ground import ground

Outcome = GroundedExtraction | ModelError | StoppedError


@dataclass(frozen=True, slots=True)
class Extracted:
    """Documents with their extractions; ``found`` maps extraction keys to extractions.

    ``fresh`` has the keys of the new extractions. ``errors`` has the reasons for missing
    extractions, by key.
    """

    documents: Sequence[WantedDocument]
    found: Mapping[str, GroundedExtraction]
    fresh: frozenset[str]
    errors: Mapping[str, ModelError | StoppedError]

    @property
    def stopped(self) -> str:
        """The limit that ended the extraction, empty without one."""
        stops = (str(one) for one in self.errors.values() if isinstance(one, StoppedError))
        return next(stops, "")

    @property
    def ended(self) -> ModelError | None:
        """The failure that would make every other call fail, None without a failure."""
        errors = (one for one in self.errors.values() if isinstance(one, ModelError))
        return next((one for one in errors if ends_calls(one)), None)

    @property
    def unproven(self) -> frozenset[str]:
        """The ids of chunks without proof that the model received all of their text."""
        return frozenset(
            chunk.id
            for document in self.documents
            for chunk in document.chunks
            if (one := self.found.get(chunk.extraction_key)) is not None and not one.proven
        )

    def error_of(self, document: WantedDocument) -> ModelError | StoppedError | None:
        """Return the reason why a document is incomplete, None if it is complete.

        If there are several reasons, a limit is returned before any failure.
        """
        errors = [
            self.errors[chunk.extraction_key]
            for chunk in document.chunks
            if chunk.extraction_key in self.errors
        ]
        stops = [error for error in errors if isinstance(error, StoppedError)]
        return next(iter((*stops, *errors)), None)


async def extract_group(
    order: IngestOrder,
    tools: IngestTools,
    group: Sequence[WantedDocument],
    stored: Mapping[str, Sequence[StoredChunk]],
) -> Extracted:
    """Return the extractions of the chunks of some documents.

    Extractions in the graph or from an earlier ingestion are reused. If one chunk fails, calls for
    other chunks continue, because they are paid for. After a failure that would make every
    other call fail, no new call is started. Raises DatabaseError.
    """
    found = await read_known(order, tools, group, stored)
    settled = [one.settle(found) for one in group]
    documents = _documents_of(settled)
    in_graph = {chunk.extraction_key for chunks in stored.values() for chunk in chunks}
    buying = _ChunkExtractor(tools, asyncio.Semaphore(tools.calls.scheduler.limit.ceiling))
    groups = prompt_groups(settled, found, tools.extractor)
    with tools.keeper.extracting(documents):
        await tools.keeper.add_documents((found.keys() - in_graph) & documents.keys())
        outcomes = chain(*await together(*map(buying.extract, groups)))
    errors: dict[str, ModelError | StoppedError] = {}
    fresh: dict[str, GroundedExtraction] = {}
    for key, outcome in outcomes:
        if isinstance(outcome, GroundedExtraction):
            fresh[key] = outcome
        else:
            errors[key] = outcome
    return Extracted(settled, found | fresh, frozenset(fresh), errors)


async def read_known(
    order: IngestOrder,
    tools: IngestTools,
    group: Sequence[WantedDocument],
    stored: Mapping[str, Sequence[StoredChunk]],
) -> dict[str, GroundedExtraction]:
    """Return the stored extractions of some documents' chunks, by key.

    The graph or an earlier ingestion stored these extractions. Raises DatabaseError.
    """
    found = _list_stored(stored)
    bases = (basis.key for one in group for chunk in one.chunks for basis in chunk.bases)
    return found | await read_kept(tools.db, order.graph, {*bases} - found.keys())


def prompt_groups(
    settled: Sequence[WantedDocument], known: Container[str], extractor: Extractor
) -> list[list[WantedChunk]]:
    """Return the chunks to extract; each list is extracted in one call."""
    wanted = {chunk.extraction_key: chunk for one in settled for chunk in one.chunks}
    missing = [chunk for key, chunk in wanted.items() if key not in known]
    if not extractor.shares:
        return [[chunk] for chunk in missing]
    return [*share_prompts(missing, lambda wanted: wanted.chunk)]


@dataclass(slots=True)
class _ChunkExtractor:
    """Extracts chunks; ``ended`` is a failure that would make every other call fail.

    A prompt occupies one of the places of ``room`` until its reply is stored. So a crash loses at
    most one reply per place.
    """

    tools: IngestTools
    room: asyncio.Semaphore
    ended: ModelError | None = None

    async def extract(self, wanted: Sequence[WantedChunk]) -> list[tuple[str, Outcome]]:
        """Return the outcomes of some chunks by key; if their call fails, each half is tried."""
        async with self.room:
            outcomes = await self._buy(wanted)
        if len(wanted) > 1 and isinstance(outcomes[0], ModelOutputError):
            middle = len(wanted) // 2
            first = await self.extract(wanted[:middle])
            return [*first, *await self.extract(wanted[middle:])]
        return [*zip((one.extraction_key for one in wanted), outcomes, strict=True)]

    async def _buy(self, wanted: Sequence[WantedChunk]) -> list[Outcome]:
        """Return the outcomes of some chunks in order, and store paid extractions before that."""
        tools, chunks = self.tools, [one.chunk for one in wanted]
        if self.ended is not None:
            return [self.ended for _ in wanted]
        try:
            name = type(tools.extractor).__name__
            with said_by(name, "extractor"):
                extracting: object = tools.extractor.extract(chunks)
            said = await await_extractions(name, extracting, len(chunks))
        except (ModelError, StoppedError) as error:
            if isinstance(error, ModelError) and ends_calls(error):
                self.ended = self.ended or error
                tools.calls.close(str(error))
            return [error for _ in wanted]
        pairs = zip(said, chunks, strict=True)
        found = [add_given(ground(one, chunk), chunk) for one, chunk in pairs]
        if not tools.extractor.free:
            keys = (one.extraction_key for one in wanted)
            await tools.keeper.keep(dict(zip(keys, found, strict=True)))
        return [*found]


def _documents_of(group: Iterable[WantedDocument]) -> dict[str, list[str]]:
    """Return, by extraction key, the ids of the documents that contain the chunk with this key."""
    documents: dict[str, list[str]] = {}
    for one in group:
        for key in {chunk.extraction_key for chunk in one.chunks}:
            documents.setdefault(key, []).append(one.id)
    return documents


def _list_stored(stored: Mapping[str, Iterable[StoredChunk]]) -> dict[str, GroundedExtraction]:
    """Return the extractions that the graph stores, by key."""
    return {
        chunk.extraction_key: EXTRACTION.validate_json(chunk.unpruned or chunk.extraction)
        for chunks in stored.values()
        for chunk in chunks
    }
