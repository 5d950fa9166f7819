"""Present the results of an ingestion or a deletion as lines and as JSON.

If an ingestion deletes documents, the deletion follows below its own lines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from pgs_neo4j.cli.pages.text import labeled_rows
from pgs_neo4j.model.ingest import Deletion, DocumentOutcome, DocumentState, Ingested, IngestPlan
from pgs_neo4j.text.json_data import Json, plain_data
from pgs_neo4j.text.shown import (
    counted,
    money,
    one_line,
    seconds,
    unproven_prompts,
    used_tokens,
)

STATES: tuple[tuple[DocumentState, str], ...] = (
    ("added", "added"),
    ("changed", "changed"),
    ("moved", "moved"),
    ("deleted", "deleted"),
    ("unchanged", "unchanged"),
    ("stale", "stale"),
    ("missing", "without a file"),
    ("elsewhere", "elsewhere"),
    ("empty", "empty"),
    ("failed", "failed"),
    ("waiting", "waiting"),
)
FIXES: dict[DocumentState, str] = {
    "stale": "another model or prompt extracted these; --refresh extracts them again",
    "missing": "these are gone from the folders that were read; --sync deletes them from the graph",
    "empty": "these were read, but are empty",
    "failed": "the current versions of these are not in the graph",
    "waiting": "a limit was reached before these; run the command again to continue",
}
DROPPED = {
    "not in the text": "entities that are not in the text",
    "end": "relations of such entities",
    "no sentence": "relations that no sentence states",
    "number": "descriptions with numbers that are not in the text",
    "type": "entities whose types are not in the schema",
    "relation": "relations whose names are not in the schema",
    "pattern": "relations that the schema does not connect",
    "fields": "records that could not be read",
    "name": "records without a usable name",
    "cut off": "records that were cut off",
    "repeated": "repeated records",
    "too many": "records beyond the limit for one reply",
}
"""Words for what was dropped, by reason."""
MOST_NAMED = 10
"""Maximum number of documents to name in each note."""
MOST_HOLDERS = 20
"""Maximum number of places to name that hold deleted text, and of runs that quote it."""


def as_json(done: Ingested) -> Json:
    """Return the result of an ingestion as JSON data."""
    counts = {state: done.count(state) for state, _ in STATES}
    data = {**plain_data(done), "counts": counts, "complete": done.complete}
    data["partly_read"] = done.partly_read
    data["chunks_unproven"] = done.chunks_unproven
    if done.deletion:
        data["deletion"] = deletion_json(done.deletion)
    return data


def line(done: Ingested) -> str:
    """Return the result of an ingestion in one line: counts of documents by state, and time."""
    documents = [f"{done.count(state):,} {word}" for state, word in STATES if done.count(state)]
    parts = [f"{one_line(done.graph)}: {', '.join(documents) or 'no documents'}"]
    if done.partly_read:
        parts.append(f"{done.partly_read:,} read in part")
    if done.stopped:
        parts.append(f"stopped: {one_line(done.stopped)}")
    return ", ".join([*parts, seconds(done.seconds)])


def lines(done: Ingested, width: int) -> list[str]:
    """Return the result of an ingestion as labeled lines, including its cost and a deletion."""
    chunks = sum(outcome.chunks for outcome in done.outcomes)
    extracted = sum(outcome.extracted for outcome in done.outcomes)
    dropped = [f"{count:,} {DROPPED.get(why, why)}" for why, count in done.dropped.items()]
    used = done.usage
    rows = [
        ("Graph", f"{one_line(done.graph)}, label {one_line(done.label)}"),
        ("Documents", state_counts(done)),
        (
            "Chunks",
            f"{chunks:,}, {extracted:,} of them extracted now"
            + (f", {done.chunks_unproven:,} unproven" if done.chunks_unproven else ""),
        ),
        ("Dropped", ", ".join(dropped)),
        (
            "Described",
            f"{counted(done.described, 'entity', 'entities')}, each summarized from many chunks"
            if done.described
            else "",
        ),
        (
            "Judged",
            f"{counted(done.judged, 'pair')} of close names, {done.joined:,} of them one entity"
            if done.judged
            else "",
        ),
        ("Embedded", _embedded_text(done)),
        ("Skipped", ", ".join(f"{count:,} {ending}" for ending, count in done.skipped.items())),
        (
            "Model",
            f"{counted(used.calls, 'call')}, {used_tokens(used)}" if used.calls else "",
        ),
        ("Cost", money(done.cost) if used.calls and done.cost is not None else ""),
        ("Stopped", one_line(done.stopped)),
        ("Time", seconds(done.seconds)),
        ("Job", done.job),
    ]
    return [
        *labeled_rows(rows, width),
        *(deletion_lines(done.deletion, width) if done.deletion else ()),
    ]


def state_counts(done: Ingested | IngestPlan) -> str:
    """Return how many documents are in each state: ``3 added, 1 failed``."""
    counts = ((done.count(state), word) for state, word in STATES)
    return ", ".join(f"{count:,} {word}" for count, word in counts if count) or "none"


def _embedded_text(done: Ingested) -> str:
    """Return how many texts were embedded: ``3 texts, 2 more unproven``."""
    if not done.embedded_unproven:
        return counted(done.embedded, "text") if done.embedded else ""
    return f"{counted(done.embedded, 'text')}, {done.embedded_unproven:,} more unproven"


def notes(done: Ingested | IngestPlan, fixes: Mapping[DocumentState, str] = FIXES) -> Iterator[str]:
    """Yield notes on documents that need attention, with what to do about them.

    ``fixes`` has the text of a note for each state of documents that gets one.
    """
    for state, fix in fixes.items():
        concerned = [outcome for outcome in done.outcomes if outcome.state == state]
        if not concerned:
            continue
        yield f"{fix}:"
        for outcome in concerned[:MOST_NAMED]:
            reason = f": {one_line(outcome.reason)}" if outcome.reason else ""
            yield f"  {one_line(outcome.id)}{reason}"
        if len(concerned) > MOST_NAMED:
            yield f"  and {len(concerned) - MOST_NAMED:,} more"
    if isinstance(done, Ingested) and done.failed:
        job = f"; 'pgs jobs show {done.job}' lists them again" if done.job else ""
        yield f"graph {one_line(done.graph)} has no document, so it cannot be asked{job}"
    if isinstance(done, Ingested) and done.deletion:
        yield from deletion_notes(done.deletion)
    yield from _list_documents("these moved with their files:", done, _former_id)
    if count := done.count("elsewhere"):
        documents = counted(count, "document is", "documents are")
        yield (
            f"{documents} outside the folders that were read and therefore left alone; "
            "'pgs documents delete' deletes such documents"
        )
    yield from _list_documents(
        "these were read only in part; the rest is not in the graph:", done, _unread_parts
    )
    yield from _list_documents(
        "check these, since something about them was guessed:", done, _guess_note
    )
    if isinstance(done, Ingested) and done.undescribed:
        why = f" ({one_line(done.undescribed_why)})" if done.undescribed_why else ""
        entities = counted(done.undescribed, "entity waits", "entities wait")
        yield f"{entities} for a description{why}; run the command again to get it"
    if isinstance(done, Ingested) and done.unjudged_why:
        pairs = counted(done.unjudged, "pair of close names waits", "pairs of close names wait")
        yield f"{pairs} for a judgment ({one_line(done.unjudged_why)}); run the command again"
        for place in done.unjudged_places:
            yield f"  {one_line(place)}"
    yield from _list_documents("these were shown to the model, unproven:", done, _unproven_chunks)
    if isinstance(done, Ingested) and (unproven := unproven_prompts(done.uncounted)):
        yield unproven
    if isinstance(done, Ingested) and done.unembedded:
        why = f" ({one_line(done.unembedded_why)})" if done.unembedded_why else ""
        texts = counted(done.unembedded, "text has", "texts have")
        yield f"{texts} no vector{why}; run the command again with --embed to get it"
        for place in done.unembedded_places:
            yield f"  {one_line(place)}"
    if isinstance(done, Ingested):
        yield from _embedding_notes(done)


def _embedding_notes(done: Ingested) -> Iterator[str]:
    """Yield notes on the embedder, and on texts that it may not have read completely."""
    yield from map(one_line, done.embedding_notes)
    if done.embedded_unproven:
        yield (
            f"nothing proves that the embedding model read all of "
            f"{counted(done.embedded_unproven, 'text')}; use an endpoint that reports its usage, "
            "or lower chunk_tokens"
        )


def _former_id(outcome: DocumentOutcome) -> str:
    return f"formerly {outcome.former}" if outcome.former else ""


def _unread_parts(outcome: DocumentOutcome) -> str:
    return "; ".join(outcome.unread)


def _unproven_chunks(outcome: DocumentOutcome) -> str:
    return counted(outcome.unproven, "chunk") if outcome.unproven else ""


def _guess_note(outcome: DocumentOutcome) -> str:
    return outcome.note


def _list_documents(
    title: str, done: Ingested | IngestPlan, text_of: Callable[[DocumentOutcome], str]
) -> Iterator[str]:
    """Yield a title, then a line for each document for which ``text_of`` returns a text.

    Yields nothing if there is no such document.
    """
    concerned = [(one.id, text) for one in done.outcomes if (text := text_of(one))]
    if concerned:
        yield title
    for id_, text in concerned[:MOST_NAMED]:
        yield f"  {one_line(id_)}: {one_line(text)}"
    if len(concerned) > MOST_NAMED:
        yield f"  and {len(concerned) - MOST_NAMED:,} more"


def deletion_json(done: Deletion) -> Json:
    """Return a deletion as JSON data."""
    return {**plain_data(done), "proven": done.proven}


def deletion_lines(done: Deletion, width: int) -> list[str]:
    """Return labeled lines on what was deleted, and on the search for remaining text."""
    made = [
        counted(done.replies, "stored reply", "stored replies") if done.replies else "",
        counted(done.descriptions, "description") if done.descriptions else "",
    ]
    went = (
        f"{counted(done.documents, 'document')}, {counted(done.chunks, 'chunk')}, "
        f"{counted(done.entities, 'entity', 'entities')}, {counted(done.relations, 'relation')}"
    )
    rows = [
        ("Deleted", ", ".join([went, *filter(None, made)])),
        ("Continued", _continued_search(done)),
        ("Searched", _search_text(done)),
        ("Held by", _holders_text(done)),
        ("Time", seconds(done.seconds)),
    ]
    return labeled_rows(rows, width)


def deletion_notes(done: Deletion) -> Iterator[str]:
    """Yield notes on places and answers that still hold the text, and what to do about them."""
    if done.held:
        yield "these still hold deleted text; pgs leaves them as they are:"
        for one in done.holders[:MOST_HOLDERS]:
            yield f"  {one_line(one.kind)} {one_line(one.id)}: {one_line(one.place)}"
        if done.held > MOST_HOLDERS:
            yield f"  and {done.held - MOST_HOLDERS:,} more"
    if not done.quoting:
        return
    if all(run.forgotten for run in done.quoting):
        yield "the text of these answers was removed, since they quoted the documents:"
    else:
        yield (
            "these answers still quote the deleted documents; 'pgs sessions delete' deletes them "
            "(--forget would have removed their text):"
        )
    for run in done.quoting[:MOST_HOLDERS]:
        yield f"  {one_line(run.session)}, run {run.run}: {one_line(run.question)}"
    if len(done.quoting) > MOST_HOLDERS:
        yield f"  and {len(done.quoting) - MOST_HOLDERS:,} more"


def _continued_search(done: Deletion) -> str:
    if not done.resumed:
        return ""
    documents = counted(done.resumed, "document")
    return f"the search for {documents} of an interrupted deletion; it does not query indexes"


def _search_text(done: Deletion) -> str:
    if done.unsearched:
        searched = "nothing could be searched for: the sentences are too short or too common"
        return f"{searched}, or are also in other documents" if done.sentences else searched
    if not done.sentences and not done.short:
        return ""
    searched = f"{counted(done.sentences, 'sentence')} in {done.scanned:,} characters"
    if done.indexes:
        searched += f" and {counted(done.indexes, 'index', 'indexes')}"
    short = counted(done.short, "sentence")
    return f"{searched}; {short} too short or too common to search for" if done.short else searched


def _holders_text(done: Deletion) -> str:
    if done.unsearched:
        return "unknown"
    quoting = sum(not run.forgotten for run in done.quoting)
    parts = [
        counted(done.held, "place") if done.held else "",
        counted(quoting, "answer") if quoting else "",
    ]
    return ", ".join(filter(None, parts)) or "nothing"
