"""Extracts the chunks of some documents that are not known, each text once."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pgs_neo4j.database.tasks import together
from pgs_neo4j.errors import ModelError, StoppedError
from pgs_neo4j.ingest.documents import WantedChunk, WantedDocument
from pgs_neo4j.ingest.kept import Keeper, read_kept
from pgs_neo4j.ingest.order import IngestOrder, IngestTools
from pgs_neo4j.ingest.stored import EXTRACTION, StoredChunk
from pgs_neo4j.model.documents import GroundedExtraction
from pgs_neo4j.text.extraction.given import add_given
from pgs_neo4j.text.extraction.ground import ground


@dataclass(frozen=True, slots=True)
class Extracted:
    """Documents with their extractions by key. ``fresh`` are the keys of those made now.

    ``errors`` tell why others are missing, by key.
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

    def error_of(self, document: WantedDocument) -> ModelError | StoppedError | None:
        """Return why a document is not whole; a limit, if that is one of the reasons."""
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
    """Return what the chunks of some documents say.

    What the graph or an earlier ingestion has is not extracted. The failure of one chunk ends no
    call for another, since those are paid for. Raises DatabaseError.
    """
    found = _known(stored)
    bases = (basis.key for one in group for chunk in one.chunks for basis in chunk.bases)
    found |= await read_kept(tools.db, order.graph, {*bases} - found.keys())
    settled = [one.settle(found) for one in group]
    wanted = {chunk.extraction_key: chunk for one in settled for chunk in one.chunks}
    missing = [chunk for key, chunk in wanted.items() if key not in found]
    # A chunk has its room until it is kept: a crash loses no more calls than may be in flight.
    room = asyncio.Semaphore(tools.calls.scheduler.limit.ceiling)
    keeper = Keeper(tools.db, order.graph)
    outcomes = await together(*(_extract(tools, chunk, room, keeper) for chunk in missing))
    errors: dict[str, ModelError | StoppedError] = {}
    fresh: set[str] = set()
    for chunk, outcome in zip(missing, outcomes, strict=True):
        if isinstance(outcome, GroundedExtraction):
            found[chunk.extraction_key] = outcome
            fresh.add(chunk.extraction_key)
        else:
            errors[chunk.extraction_key] = outcome
    return Extracted(settled, found, frozenset(fresh), errors)


async def _extract(
    tools: IngestTools, wanted: WantedChunk, room: asyncio.Semaphore, keeper: Keeper
) -> GroundedExtraction | ModelError | StoppedError:
    """Return what a chunk says. What is not free is kept before the next chunk is bought."""
    async with room:
        try:
            said = ground(await tools.extractor.extract(wanted.chunk), wanted.chunk)
            found = add_given(said, wanted.chunk)
        except (ModelError, StoppedError) as error:
            return error
        if not tools.extractor.free:
            await keeper.keep(wanted.extraction_key, found)
        return found


def _known(stored: Mapping[str, Iterable[StoredChunk]]) -> dict[str, GroundedExtraction]:
    """Return the extractions that the graph holds, by key."""
    return {
        chunk.extraction_key: EXTRACTION.validate_json(chunk.unpruned or chunk.extraction)
        for chunks in stored.values()
        for chunk in chunks
    }
