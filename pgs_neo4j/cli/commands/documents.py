"""`pgs documents …`: list, show, and delete the documents of a graph."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Annotated

import typer

from pgs_neo4j.cli import output
from pgs_neo4j.cli.options import (
    ForgetOption,
    GraphOption,
    JsonOption,
    QuietOption,
    VerboseOption,
    YesOption,
)
from pgs_neo4j.cli.pages.ingested import DROPPED, deletion_json, deletion_lines, deletion_notes
from pgs_neo4j.cli.pages.text import labeled_rows, size
from pgs_neo4j.cli.progress import Listener, progress
from pgs_neo4j.cli.run import DONE, PARTIAL, run
from pgs_neo4j.errors import UsageError
from pgs_neo4j.model.ingest import DocumentChunk, DocumentDetails
from pgs_neo4j.text.json_data import Json, plain_data
from pgs_neo4j.text.shown import counted, one_line

if TYPE_CHECKING:
    from pgs_neo4j.model.ingest import IngestedDocument


documents_app = typer.Typer(
    no_args_is_help=True, help="List, show, and delete the documents of a graph."
)


@documents_app.command("list")
def list_(graph: GraphOption = None, as_json: JsonOption = False) -> None:
    """List the documents of a graph."""
    run(_list(graph, as_json=as_json))


async def _list(graph: str | None, *, as_json: bool) -> None:
    from pgs_neo4j.cli.connection import database, find_graph_name

    async with database() as pgs:
        graph = await find_graph_name(pgs, graph)
        documents = await pgs.ingest.documents(graph)
    if as_json:
        output.write_json({"documents": [plain_data(one) for one in documents]})
    elif documents:
        lines = [
            f"{one_line(one.id)}  {_title(one)}{counted(one.chunks, 'chunk')}, {size(one.size)}"
            + (", read in part" if one.unread else "")
            + (f", {one.unproven:,} unproven" if one.unproven else "")
            for one in documents
        ]
        output.write_lines(lines)
    else:
        output.note(
            f"graph {graph} has no documents; 'pgs ingest FOLDER --graph {graph}' adds them"
        )


def _title(document: IngestedDocument) -> str:
    """Return the title of a document and a comma; empty if the title is its file name."""
    called = document.name not in ("", PurePosixPath(document.id).name)
    return f"“{one_line(document.name)}”, " if called else ""


@documents_app.command("show")
def show(
    name: Annotated[str, typer.Argument(metavar="DOCUMENT", help="Its id, or its title.")],
    graph: GraphOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show a document: where it comes from, what it adds, and its chunks.

    A document is stale if another model, prompt, or schema extracted it ('pgs ingest PATH --graph
    NAME --refresh' extracts it again), or if it was loaded or divided by other rules (the next
    ingestion writes it again).
    """
    run(_show(name, graph, as_json=as_json))


async def _show(name: str, graph: str | None, *, as_json: bool) -> None:
    from pgs_neo4j.cli.connection import engine, find_graph_name

    async with engine() as pgs:
        graph = await find_graph_name(pgs, graph)
        document = await pgs.ingest.document(graph, name)
    if as_json:
        output.write_json(document_json(document))
    else:
        output.write_lines(document_lines(document, output.width()))


def document_json(document: DocumentDetails) -> Json:
    """Return a document as JSON data."""
    return {**plain_data(document), "dropped": document.dropped}


def document_lines(document: DocumentDetails, width: int) -> list[str]:
    """Return where a document comes from, what it adds, and its chunks."""
    source = document.source if document.source != document.id else ""
    read = ", ".join(filter(None, (document.media_type, document.loader)))
    dropped = [f"{count:,} {DROPPED.get(why, why)}" for why, count in document.dropped.items()]
    types = f"{counted(len(document.types), 'type')}, " if document.types else ""
    rows = [
        ("Document", one_line(document.id)),
        ("Title", one_line(document.name)),
        ("Source", one_line(source)),
        ("Read as", one_line(read)),
        ("Size", f"{size(document.size)}, hash {document.hash}"),
        ("Written", document.ingested_at),
        ("Schema", f"{types}hash {document.schema}" if document.schema else ""),
        ("Unread", one_line("; ".join(document.unread))),
        ("Stale", "; ".join(document.stale) or "no"),
        (
            "Holds",
            f"{counted(len(document.chunks), 'chunk')}, "
            f"{counted(document.entities, 'entity', 'entities')}, "
            f"{counted(document.relations, 'relation')}",
        ),
        ("Dropped", ", ".join(dropped)),
    ]
    return [*labeled_rows(rows, width), "", *map(_chunk, document.chunks)]


def _chunk(chunk: DocumentChunk) -> str:
    place = " > ".join(map(one_line, chunk.path))
    if chunk.page is not None:
        place = ", ".join(filter(None, (place, f"page {chunk.page}")))
    parts = [
        f"{chunk.characters:,} characters",
        counted(chunk.entities, "entity", "entities"),
        counted(chunk.relations, "relation"),
    ]
    left_out = sum(chunk.dropped.values())
    if left_out:
        parts.append(f"{left_out:,} dropped")
    if not chunk.proven:
        parts.append("shown, unproven")
    return "  ".join(filter(None, (f"{chunk.index + 1}", ", ".join(parts), place)))


@documents_app.command("delete")
def delete(
    ids: Annotated[
        list[str] | None,
        typer.Argument(metavar="DOCUMENT...", help="Ids, as 'pgs documents list' shows them."),
    ] = None,
    graph: GraphOption = None,
    every: Annotated[
        bool, typer.Option("--all", help="Delete all documents, and then the graph itself.")
    ] = False,
    forget: ForgetOption = False,
    yes: YesOption = False,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Delete documents with all that stood only in them, and prove that their text is gone.

    Deletes their chunks, and the entities and relations that no other document states; those that
    stay are described by the other documents. Then searches the whole database for sentences that
    stood only in the deleted documents. Stored replies with such text are also deleted.
    --all deletes the graph whole: then its partitions, sessions, and mapping as well.

    Exit codes: 0 nothing holds the text any more, 2 usage, 3 something still does (it is listed),
    4 another process writes these documents, 5 database.
    """
    listening = progress(quiet=quiet, verbose=verbose)
    run(_delete(ids or [], graph, listening, every=every, forget=forget, yes=yes, as_json=as_json))


async def _delete(
    ids: list[str],
    graph: str | None,
    listening: AbstractContextManager[Listener],
    *,
    every: bool,
    forget: bool,
    yes: bool,
    as_json: bool,
) -> int:
    from pgs_neo4j.cli.connection import confirm, engine, require_graph_name

    if every == bool(ids):
        raise UsageError("name the documents to delete, or --all for all of the graph")
    graph = require_graph_name(graph)
    if not every:
        confirm(
            f"this deletes {counted(len(set(ids)), 'document')} from the graph {graph}", yes=yes
        )
    with listening as listener:
        async with engine(listener) as pgs:
            if every:
                ids = [one.id for one in await pgs.ingest.documents(graph)]
                unfinished = await pgs.ingest.unfinished(graph)
                if not (ids or unfinished):
                    raise UsageError(
                        f"graph {graph} has no documents; 'pgs graph remove {graph}' removes its "
                        "mapping"
                    )
                what = f"this deletes {counted(len(ids), 'document')}, all of graph {graph}"
                if unfinished:
                    begun = counted(len(unfinished), "document")
                    what += f", the stored parts of {begun} whose first ingestion was interrupted"
                ids += unfinished
                confirm(f"{what}, and its partitions, sessions, and mapping", yes=yes)
            done = await pgs.ingest.delete(graph, ids, forget=forget)
            if every:
                await pgs.ingest.remove_views(graph)
    if as_json:
        output.write_json(deletion_json(done))
    else:
        output.write_lines(deletion_lines(done, output.width()))
        for note in deletion_notes(done):
            output.note(note)
    return DONE if done.proven else PARTIAL
