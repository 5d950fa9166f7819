"""What the jobs of a server do: the engine's work, and how each tells its end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from pgs_neo4j.config import Knobs
from pgs_neo4j.engine import DEMO_GRAPH, PGS, FailedJob, JobOrder, OnBegin
from pgs_neo4j.events import OnEvent
from pgs_neo4j.model.documents import DocumentSource
from pgs_neo4j.model.ingest import DocumentOutcome, Ingested
from pgs_neo4j.text.shown import counted, unproven_chunks, unproven_prompts
from pgs_neo4j.web.jobs.served_jobs import ServedDocument, ServedJobEnd
from pgs_neo4j.web.uploads.store import Upload

MOST_LISTED = 200
UNREAD = ("missing", "elsewhere")
"""States of documents that are not among the files."""
FIRST = ("failed", "waiting")
"""States of the documents that are listed before others."""


async def repartition(
    pgs: PGS, graph: str, order: JobOrder, on_begin: OnBegin, on_event: OnEvent
) -> ServedJobEnd:
    """Repartition a graph; ``on_begin`` gets the record. Raises PGSError."""
    ended = await pgs.jobs.attempt(graph, order, on_event, on_begin)
    if isinstance(ended, FailedJob):
        raise ended.error
    return _end(ended.id, ended.outcome)


async def load_demo(pgs: PGS, on_begin: OnBegin, on_event: OnEvent) -> ServedJobEnd:
    """Load the demo graph, and partition it. Raises PGSError."""
    await pgs.load.demo(on_event=on_event)
    return await repartition(pgs, DEMO_GRAPH, JobOrder(if_changed=True), on_begin, on_event)


async def ingest(
    pgs: PGS,
    graph: str,
    uploads: Sequence[Upload],
    *,
    embed: bool,
    most_cost: float | None,
    on_event: OnEvent,
) -> ServedJobEnd:
    """Ingest uploaded files into a graph; its other documents stay. Raises PGSError."""
    sources = upload_sources(pgs, uploads)
    done = await pgs.ingest(sources, graph, embed=embed, on_event=on_event, **within(most_cost))
    return ingested_data(done)


def within(most_cost: float | None) -> Knobs:
    """Return a limit as a knob; none leaves that of the settings."""
    return {} if most_cost is None else {"max_cost": most_cost}


def upload_sources(pgs: PGS, uploads: Sequence[Upload]) -> list[DocumentSource]:
    """Return the sources of uploaded files. A loader of your own is given their data."""
    if pgs.ingest.endings:
        return [upload.source() for upload in uploads]
    return [DocumentSource(id=upload.name, data=upload.read()) for upload in uploads]


def ingested_data(done: Ingested) -> ServedJobEnd:
    """Return how an ingestion ended. Documents that were not among its files are left out."""
    own = [one for one in done.outcomes if one.state not in UNREAD]
    part = f"{counted(done.partly_read, 'document')} read only in part" if done.partly_read else ""
    unproven = unproven_prompts(done.uncounted)
    whys = (done.undescribed_why, done.unjudged_why, done.unembedded_why)
    texts = counted(done.embedded_unproven, "text")
    vectors = f"nothing proves that the embedding model read all of {texts}"
    unread = vectors if done.embedded_unproven else ""
    reasons = (done.stopped, *whys, part, unproven, unread, *done.embedding_notes)
    end = _end(done.job, "ingested" if done.complete else "failed" if done.failed else "partial")
    end["states"] = dict(Counter(one.state for one in own))
    end["documents"] = [
        _document(one)
        for one in sorted(own, key=lambda one: (one.state not in FIRST, not one.unread))[
            :MOST_LISTED
        ]
    ]
    end["notes"] = list(dict.fromkeys(filter(None, reasons)))
    end["cost"] = done.cost
    return end


def _end(record: str, outcome: str) -> ServedJobEnd:
    return {
        "record": record,
        "outcome": outcome,
        "states": {},
        "documents": [],
        "notes": [],
        "cost": None,
    }


def _document(outcome: DocumentOutcome) -> ServedDocument:
    return {
        "id": outcome.id,
        "state": outcome.state,
        "chunks": outcome.chunks,
        "reason": outcome.reason,
        "note": "; ".join(
            filter(None, (outcome.note, *outcome.unread, unproven_chunks(outcome.unproven)))
        ),
    }
