"""Extracts the chunks of some documents that are not known, each text once."""

from __future__ import annotations

import asyncio
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from pgs_neo4j.database.tasks import together
from pgs_neo4j.errors import ModelError, ModelOutputError, StoppedError
from pgs_neo4j.ingest.extract.kept import read_kept
from pgs_neo4j.ingest.extract.sharing import share_prompts
from pgs_neo4j.ingest.order import Extractor, IngestOrder, IngestTools
from pgs_neo4j.ingest.stored import EXTRACTION, StoredChunk
from pgs_neo4j.ingest.wanted import WantedChunk, WantedDocument
from pgs_neo4j.model.documents import GroundedExtraction
from pgs_neo4j.text.extraction.given import add_given
from pgs_neo4j.text.extraction.ground import ground

Outcome = GroundedExtraction | ModelError | StoppedError


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
    found = await read_known(order, tools, group, stored)
    settled = [one.settle(found) for one in group]
    # A prompt has its room until its reply is kept: a crash loses no more than may be in flight.
    room = asyncio.Semaphore(tools.calls.scheduler.limit.ceiling)
    groups = prompt_groups(settled, found, tools.extractor)
    outcomes = chain(*await together(*(_extract(tools, one, room) for one in groups)))
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
    """Return the extractions that the graph or an earlier ingestion has of some documents, by key.

    Raises DatabaseError.
    """
    found = _known(stored)
    bases = (basis.key for one in group for chunk in one.chunks for basis in chunk.bases)
    return found | await read_kept(tools.db, order.graph, {*bases} - found.keys())


def prompt_groups(
    settled: Sequence[WantedDocument], known: Container[str], extractor: Extractor
) -> list[list[WantedChunk]]:
    """Return the chunks to extract, those that are extracted together as one list."""
    wanted = {chunk.extraction_key: chunk for one in settled for chunk in one.chunks}
    missing = [chunk for key, chunk in wanted.items() if key not in known]
    if not extractor.shares:
        return [[chunk] for chunk in missing]
    return [*share_prompts(missing, lambda wanted: wanted.chunk)]


async def _extract(
    tools: IngestTools, wanted: Sequence[WantedChunk], room: asyncio.Semaphore
) -> list[tuple[str, Outcome]]:
    """Return what some chunks say, by key; those that fail together are tried in halves.

    What is not free is kept before the next chunk is bought.
    """
    chunks = [one.chunk for one in wanted]
    keys = [one.extraction_key for one in wanted]
    async with room:
        try:
            said = await tools.extractor.extract(chunks)
        except (ModelError, StoppedError) as error:
            outcomes: list[Outcome] = [error for _ in wanted]
        else:
            pairs = zip(said, chunks, strict=True)
            found = [add_given(ground(one, chunk), chunk) for one, chunk in pairs]
            if not tools.extractor.free:
                await tools.keeper.keep(dict(zip(keys, found, strict=True)))
            outcomes = [*found]
    if len(wanted) > 1 and isinstance(outcomes[0], ModelOutputError):
        middle = len(wanted) // 2
        first = await _extract(tools, wanted[:middle], room)
        return [*first, *await _extract(tools, wanted[middle:], room)]
    return [*zip(keys, outcomes, strict=True)]


def _known(stored: Mapping[str, Iterable[StoredChunk]]) -> dict[str, GroundedExtraction]:
    """Return the extractions that the graph holds, by key."""
    return {
        chunk.extraction_key: EXTRACTION.validate_json(chunk.unpruned or chunk.extraction)
        for chunks in stored.values()
        for chunk in chunks
    }
