"""The result of a deletion, as lines and as JSON."""

from __future__ import annotations

from collections.abc import Iterator

from pgs_neo4j.cli.pages.text import labeled
from pgs_neo4j.model.deletion import Deletion
from pgs_neo4j.text.json_data import Json, plain_data
from pgs_neo4j.text.shown import counted, one_line, seconds

MOST_NAMED = 20
"""Holders, and runs, that are named."""


def deletion_json(done: Deletion) -> Json:
    """Return a deletion as JSON data."""
    return {**plain_data(done), "proven": done.proven}


def deletion_lines(done: Deletion, width: int) -> list[str]:
    """Return what went, and what was looked for."""
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
        ("Continued", _continued(done)),
        ("Searched", _searched(done)),
        ("Held by", _held_by(done)),
        ("Time", seconds(done.seconds)),
    ]
    return [line for label, text in rows if text for line in labeled(label, text, width)]


def deletion_notes(done: Deletion) -> Iterator[str]:
    """Yield what still holds the text, and what to do about it."""
    if done.held:
        yield "these still hold deleted text; pgs leaves them as they are:"
        for one in done.holders[:MOST_NAMED]:
            yield f"  {one_line(one.kind)} {one_line(one.id)}: {one_line(one.place)}"
        if done.held > MOST_NAMED:
            yield f"  and {done.held - MOST_NAMED:,} more"
    if not done.quoting:
        return
    if all(run.forgotten for run in done.quoting):
        yield "the text of these answers was removed, since they quoted the documents:"
    else:
        yield (
            "these answers still quote the deleted documents; 'pgs sessions delete' deletes them "
            "(--forget would have removed their text):"
        )
    for run in done.quoting[:MOST_NAMED]:
        yield f"  {one_line(run.session)}, run {run.run}: {one_line(run.question)}"
    if len(done.quoting) > MOST_NAMED:
        yield f"  and {len(done.quoting) - MOST_NAMED:,} more"


def _continued(done: Deletion) -> str:
    if not done.resumed:
        return ""
    documents = counted(done.resumed, "document")
    return f"the search for {documents} of a deletion that broke off; indexes are not asked for it"


def _searched(done: Deletion) -> str:
    if done.unsearched:
        told = "nothing could be searched for: the sentences are too short or too common"
        return f"{told}, or stand in other documents" if done.sentences else told
    if not done.sentences and not done.short:
        return ""
    told = f"{counted(done.sentences, 'sentence')} in {done.scanned:,} characters"
    if done.indexes:
        told += f" and {counted(done.indexes, 'index', 'indexes')}"
    short = counted(done.short, "sentence")
    return f"{told}; {short} too short or too common to search for" if done.short else told


def _held_by(done: Deletion) -> str:
    if done.unsearched:
        return "unknown"
    quoting = sum(not run.forgotten for run in done.quoting)
    parts = [
        counted(done.held, "place") if done.held else "",
        counted(quoting, "answer") if quoting else "",
    ]
    return ", ".join(filter(None, parts)) or "nothing"
