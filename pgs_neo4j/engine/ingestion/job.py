"""An ingestion as a job: recorded from its start to its end, and continued from its record."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from dataclasses import asdict, replace
from pathlib import Path
from time import perf_counter
from urllib.parse import urldefrag

from pgs_neo4j.config import PGSConfig, masked_address
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.tasks import to_the_end
from pgs_neo4j.documents.sources.addresses import MASK, is_url, url_id
from pgs_neo4j.engine.ingestion.order import DEFAULT_SCHEMA, IngestOptions, Paths, list_paths
from pgs_neo4j.errors import ModelError, UsageError
from pgs_neo4j.model.documents import DocumentSource, RecordColumns
from pgs_neo4j.model.ingest import DocumentState, Ingested
from pgs_neo4j.pgs.runs import jobs
from pgs_neo4j.pgs.runs.jobs import Job, Outcome
from pgs_neo4j.telemetry import spans
from pgs_neo4j.telemetry.redaction import redacted
from pgs_neo4j.telemetry.spans import start_span
from pgs_neo4j.text.extraction.schema import EntitySchema
from pgs_neo4j.text.json_data import Json

KIND = "ingest"
PARTS = frozenset(("loader", "chunker", "extractor", "resolver", "describer"))
UNFINISHED: tuple[DocumentState, ...] = ("failed", "waiting")
MOST_UNFINISHED = 100
"""Maximum unfinished documents to name in a record."""
MOST_CHARACTERS = 300
"""Maximum characters to keep of the reason why a document failed."""
_URL = re.compile(r"\bhttps?://\S+")
KEPT_KNOBS = (
    *("chunk_strategy", "chunk_tokens", "chunk_overlap", "gleaning", "max_document_mb"),
    *("max_calls", "max_tokens", "max_cost", "run_timeout_s"),
)
"""Settings to record: how documents are read, and limits, which count from zero on a resume."""


async def record_ingestion(
    db: Database, graph: str, options: Json, work: Callable[[], Awaitable[Ingested]]
) -> Ingested:
    """Record an ingestion as a job, and return its result with the job's id.

    Raises the errors of ``work``.
    """
    with start_span(spans.INGEST, {spans.GRAPH: graph}, current=True) as span:
        job = await jobs.begin(db, graph, KIND, options)
        span.note({spans.JOB_ID: job.id})
        began = perf_counter()
        try:
            async with jobs.stay_alive(db, job):
                done = await work()
        except BaseException as error:
            # Shield this step, so that even an interrupted job is closed before its caller
            # continues.
            await to_the_end(jobs.close(db, jobs.failed_job(job, error, perf_counter() - began)))
            if isinstance(error, ModelError):
                again = f"'pgs resume {job.id}'" if options else "the same command"
                error.add_note(f"what was ingested is kept, and {again} continues")
            raise
        ended = replace(
            job,
            outcome=_choose_outcome(done),
            error=done.stopped or None,
            figures=_list_figures(done),
        )
        await to_the_end(jobs.close(db, ended))
        return replace(done, job=job.id)


def kept_options(paths: Paths, options: IngestOptions, config: PGSConfig) -> Json:
    """Return the options that a record keeps, to continue the ingestion from any folder.

    Empty if the ingestion cannot be continued: a record never contains secrets or texts, nor
    schemas or parts that a program passed as objects.
    """
    kept: Json = {name: value for name, value in options.items() if value is not None}
    places = [_make_kept_path(path) for path in list_paths(paths)]
    schema, columns = kept.pop("schema", None), kept.pop("columns", None)
    has_objects = isinstance(schema, EntitySchema) or bool(kept.keys() & PARTS)
    has_objects = has_objects or not isinstance(kept.get("embed", False), bool)
    if has_objects or None in places:
        return {}
    if schema is not None:
        kept["schema"] = schema if schema == DEFAULT_SCHEMA else str(Path(schema).absolute())
    if columns is not None:
        kept["columns"] = asdict(columns)
    return {**kept, "paths": places, "knobs": {name: getattr(config, name) for name in KEPT_KNOBS}}


def options_of(job: Job) -> tuple[list[str], Json]:
    """Return the paths and the options with which to continue an ingestion.

    Raises UsageError for a job that is not an ingestion, or cannot be continued from its record.
    """
    if job.kind != KIND:
        raise UsageError(f"job {job.id} is a {job.kind}; 'pgs repartition' runs it again")
    if not job.options:
        raise UsageError(
            f"job {job.id} cannot be resumed, because its record does not say what it read; run "
            "its command again, and nothing is paid for twice"
        )
    options = dict(job.options)
    paths, knobs = options.pop("paths"), options.pop("knobs")
    if columns := options.pop("columns", None):
        pairs = tuple((column, kind) for column, kind in columns["entities"])
        options["columns"] = RecordColumns(**{**columns, "entities": pairs})
    return paths, {**options, **knobs}


def _make_kept_path(path: str | Path | DocumentSource) -> str | None:
    """Return a path in its recorded form; None for a text, or an address with a secret."""
    if isinstance(path, DocumentSource):
        return None
    if isinstance(path, str) and is_url(path):
        return None if MASK in url_id(path) else urldefrag(path).url
    return str(Path(path).absolute())


def _choose_outcome(done: Ingested) -> Outcome:
    if done.failed:
        return "failed"
    if not done.complete:
        return "partial"
    changed = done.described or done.embedded or done.embedded_unproven
    same = done.count("unchanged", "stale", "missing", "elsewhere", "empty") == len(done.outcomes)
    return "unchanged" if same and not changed else "ingested"


def _list_figures(done: Ingested) -> Json:
    """Return counts by state, calls, tokens, cost, and seconds, and what is left to do."""
    states = sorted({outcome.state for outcome in done.outcomes})
    used = done.usage
    return {
        **_list_unfinished(done),
        **({"partly_read": done.partly_read} if done.partly_read else {}),
        "documents": {state: done.count(state) for state in states},
        "chunks": sum(outcome.chunks for outcome in done.outcomes),
        "extracted": sum(outcome.extracted for outcome in done.outcomes),
        "embedded": done.embedded,
        **{
            name: count
            for name, count in (
                ("embedded_unproven", done.embedded_unproven),
                ("chunks_unproven", done.chunks_unproven),
                ("prompts_unproven", done.uncounted),
            )
            if count
        },
        "calls": used.calls,
        "tokens": used.input_tokens + used.output_tokens,
        **{
            name: count
            for name, count in (
                ("cache_read_tokens", used.cache_read_tokens),
                ("cache_write_tokens", used.cache_write_tokens),
            )
            if count
        },
        "cost": done.cost,
        "seconds": round(done.seconds, 3),
    }


def _list_unfinished(done: Ingested) -> Json:
    """Return the documents that failed or wait, with reasons: the first ones, and how many more."""
    left = sorted(
        (outcome for outcome in done.outcomes if outcome.state in UNFINISHED),
        key=lambda outcome: UNFINISHED.index(outcome.state),
    )
    if not left:
        return {}
    entries = [
        {"id": one.id, "state": one.state, "reason": _clean_reason(one.reason or done.stopped)}
        for one in left[:MOST_UNFINISHED]
    ]
    return {"unfinished": entries, "unfinished_more": len(left) - len(entries)}


def _clean_reason(reason: str) -> str:
    """Return a reason to record: without secrets, and cut to MOST_CHARACTERS."""
    return redacted(_URL.sub(lambda url: masked_address(url[0]), reason))[:MOST_CHARACTERS]
