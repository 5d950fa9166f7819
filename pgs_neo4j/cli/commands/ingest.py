"""`pgs ingest` and `pgs load`: make a graph of files.

`pgs ingest` extracts a graph from documents and records, and keeps it up to date with them.
`pgs load` loads the nodes and edges of one file unchanged.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from shutil import copyfileobj
from tempfile import TemporaryFile
from typing import Annotated

import typer

from pgs_neo4j.cli import output
from pgs_neo4j.cli.commands.graph import next_question
from pgs_neo4j.cli.knob_options import with_knobs
from pgs_neo4j.cli.options import (
    GraphName,
    JsonOption,
    ModelOption,
    QuietOption,
    VerboseOption,
    model_settings,
)
from pgs_neo4j.cli.progress import Listener, progress
from pgs_neo4j.cli.run import DONE, PARTIAL, run
from pgs_neo4j.errors import UsageError
from pgs_neo4j.model.documents import DocumentSource, RecordColumns
from pgs_neo4j.model.ingest import Ingested, IngestPlan
from pgs_neo4j.text.extraction.schema import label_name
from pgs_neo4j.text.json_data import Json, plain_data
from pgs_neo4j.text.shown import counted, one_line

PathsArgument = Annotated[
    list[str],
    typer.Argument(metavar="PATH...", help="Files, folders, quoted patterns, URLs; - is stdin."),
]
LabelOption = Annotated[
    str | None, typer.Option(help="Label of its nodes; derived from the name by default.")
]
SchemaOption = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="Types of entities and relations, as TOML or JSON; 'default' resets them.",
    ),
]
SyncOption = Annotated[
    bool,
    typer.Option(
        "--sync", help="Delete documents whose files are gone from the folders that are read."
    ),
]
ForgetOption = Annotated[
    bool,
    typer.Option(
        "--forget",
        help="With --sync: also remove the text of answers that quote the deleted documents.",
    ),
]
RefreshOption = Annotated[
    bool, typer.Option("--refresh", help="Extract again what another model extracted.")
]
ArbiterOption = Annotated[
    bool, typer.Option("--arbiter", help="Ask the model whether close names are one entity.")
]
EmbedOption = Annotated[
    bool, typer.Option("--embed", help="Also make vectors of chunks, entities, and facts.")
]
PlanOption = Annotated[
    bool, typer.Option("--plan", help="Show what it would do and cost, and change nothing.")
]
NameOption = Annotated[
    str | None, typer.Option(metavar="FILE", help="What stdin is called, as in notes.md.")
]
PrivateOption = Annotated[
    bool, typer.Option("--allow-private", help="Fetch URLs of private addresses as well.")
]
TextOption = Annotated[
    str | None, typer.Option(metavar="COLUMN", help="Of records: the column of the text.")
]
TitleOption = Annotated[
    str | None, typer.Option(metavar="COLUMN", help="Of records: the column of the title.")
]
KeyOption = Annotated[
    str | None, typer.Option(metavar="COLUMN", help="Of records: the column that tells them apart.")
]
EntityOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN=TYPE", help="Of records: a column that names entities; repeatable."
    ),
]
KNOBS = (
    *("chunk_strategy", "chunk_tokens", "chunk_overlap", "gleaning", "max_document_mb"),
    *("max_calls", "max_tokens", "max_cost", "run_timeout_s", "max_concurrent_sweeps", "hedge"),
)


@with_knobs(*KNOBS)
def ingest(
    paths: PathsArgument,
    graph: GraphName = None,
    label: LabelOption = None,
    schema: SchemaOption = None,
    name: NameOption = None,
    allow_private: PrivateOption = False,
    text: TextOption = None,
    title: TitleOption = None,
    key: KeyOption = None,
    entity: EntityOption = None,
    sync: SyncOption = False,
    forget: ForgetOption = False,
    refresh: RefreshOption = False,
    arbiter: ArbiterOption = False,
    embed: EmbedOption = False,
    plan: PlanOption = False,
    model: ModelOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
    **knobs: object,
) -> None:
    """Make a graph of files, and keep it equal to them.

    The model of sweeps names the entities and relations of each chunk of a document; without one,
    recurring terms and names are taken. Run it again after changes: the rest costs nothing.

    Exit codes: 0 done, 2 usage, 3 a document failed or was read only in part, a limit was reached,
    or something is missing or still held, 4 another process writes these documents, 5 database,
    6 model.

    \b
      pgs ingest notes/ --graph notes
      pgs ask --graph notes "What contradicts what?"
    """
    knobs |= model_settings(model)
    listening = progress(quiet=quiet, verbose=verbose)
    wanted: Json = {"label": label, "schema": schema, "columns": (text, title, key, entity)}
    wanted |= {"sync": sync, "forget": forget, "refresh": refresh, "arbiter": arbiter}
    wanted |= {"allow_private": allow_private, "embed": embed}
    run(_ingest(paths, name, graph, wanted, knobs, listening, plan=plan, as_json=as_json))


async def _ingest(
    paths: list[str],
    name: str | None,
    graph: str | None,
    wanted: Json,
    knobs: dict[str, object],
    listening: AbstractContextManager[Listener],
    *,
    plan: bool,
    as_json: bool,
) -> int:
    from pgs_neo4j.cli.commands.ask import unpriced
    from pgs_neo4j.cli.connection import engine, require_graph_name
    from pgs_neo4j.engine import check_graph_name

    graph = require_graph_name(graph)
    check_graph_name(graph)
    wanted["columns"] = columns_from_options(*wanted["columns"])
    check_stdin(paths, name)
    with listening as listener:
        async with engine(listener, **knobs) as pgs:
            with open_sources(paths, name, pgs.ingest.most_bytes(name or "")) as sources:
                if plan:
                    planned = await pgs.ingest.plan(sources, graph, **wanted)
                    missing = unpriced(pgs)
                else:
                    done = await pgs.ingest(sources, graph, **wanted)
    if plan:
        return _write_plan(planned, missing, as_json=as_json)
    return write_ingested(done, as_json=as_json)


def columns_from_options(
    text: str | None, title: str | None, key: str | None, entities: Sequence[str] | None
) -> RecordColumns | None:
    """Return the columns that the options name, or None if they name none.

    Raises UsageError for an entity option that is not of the form COLUMN=TYPE.
    """
    pairs = tuple(_pair(option) for option in entities or ())
    columns = RecordColumns(text=text, title=title, key=key, entities=pairs)
    return None if columns == RecordColumns() else columns


def _pair(option: str) -> tuple[str, str]:
    column, _, type_ = option.rpartition("=")
    label = label_name(type_)
    if not column.strip() or label is None:
        raise UsageError(
            f"--entity must be a column and the type of what it names, as in author=Person; got "
            f"{option[:80]!r}"
        )
    return column.strip(), label


def check_stdin(paths: Sequence[str], name: str | None) -> None:
    """Raise UsageError if only one of the path ``-`` and the option ``--name`` is given."""
    if "-" in paths and name is None:
        raise UsageError("- reads stdin, which needs a name: add --name notes.md")
    if "-" not in paths and name is not None:
        raise UsageError("--name names the document on stdin; also give - as a path")


@contextmanager
def open_sources(
    paths: Sequence[str], name: str | None, most_bytes: int | None
) -> Iterator[list[str | DocumentSource]]:
    """Yield the sources to ingest; the document on stdin replaces ``-``.

    With ``most_bytes``, reads at most one byte more than that, which is enough to detect a document
    that is too long. With None, stdin may have any size, and is copied to a temporary file that
    exists until the context ends. Raises UsageError if the file cannot be written.
    """
    if name is None:
        yield [*paths]
    elif most_bytes is not None:
        stdin = DocumentSource(id=name, data=sys.stdin.buffer.read(most_bytes + 1))
        yield [stdin if path == "-" else path for path in paths]
    else:
        with TemporaryFile() as file:
            try:
                copyfileobj(sys.stdin.buffer, file)
                file.flush()
            except OSError as error:
                raise UsageError(
                    f"stdin cannot be stored ({error.strerror}); name a file"
                ) from error
            stdin = DocumentSource(id=name, opened=file)
            yield [stdin if path == "-" else path for path in paths]


def _write_plan(planned: IngestPlan, missing: list[str], *, as_json: bool) -> int:
    """Print what an ingestion would do and cost, and return the exit code.

    ``missing`` has the names of the models without a configured price.
    """
    from pgs_neo4j.cli.pages import plan_page
    from pgs_neo4j.cli.pages.ingested import notes

    if as_json:
        output.write_json(plan_page.ingestion_json(planned))
    else:
        output.write_lines(plan_page.ingestion_lines(planned, missing, output.width()))
        for note in notes(planned, plan_page.FIXES_PLANNED):
            output.note(note)
    unread = any(outcome.unread for outcome in planned.outcomes)
    return PARTIAL if unread or planned.count("failed") else DONE


def write_ingested(done: Ingested, *, as_json: bool) -> int:
    """Print what an ingestion did, and return the exit code."""
    from pgs_neo4j.cli.pages import ingested

    if as_json:
        output.write_json(ingested.as_json(done))
    else:
        output.write_lines(ingested.lines(done, output.width()))
        output.write_lines(next_question(done.graph) if done.has_documents else [])
        for note in ingested.notes(done):
            output.note(note)
    return DONE if done.complete and not done.partly_read else PARTIAL


def load(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A graph file: .json or .json.gz.")],
    graph: GraphName = None,
    label: Annotated[
        str | None, typer.Option(help="Label of its nodes; derived from the name by default.")
    ] = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Load a file and store it as a graph.

    The file is a JSON object with nodes (id, concept, tag, weight, embedding) and
    edges (source, target, weight, type).

    The load is atomic. Loading again replaces the graph.

    \b
      pgs load physics.json.gz --graph physics
    """
    listening = progress(quiet=quiet, verbose=verbose)
    run(_load(file, graph, label, listening, as_json=as_json))


async def _load(
    file: Path,
    graph: str | None,
    label: str | None,
    listening: AbstractContextManager[Listener],
    *,
    as_json: bool,
) -> None:
    from pgs_neo4j.cli.connection import database, require_graph_name
    from pgs_neo4j.engine import check_graph_name, read_brain

    graph = require_graph_name(graph)
    check_graph_name(graph)
    content = read_brain(file)
    with listening as listener:
        async with database(listener) as pgs:
            done = await pgs.load(content, graph, label=label)
    ignored = ", ".join(f"{one_line(name)} ({count:,})" for name, count in content.ignored.items())
    if as_json:
        output.write_json({**plain_data(done), "ignored": dict(content.ignored)})
        return
    amount = f"{counted(done.nodes, 'node')} and {counted(done.relationships, 'relationship')}"
    how = "is already loaded, unchanged" if done.unchanged else "is loaded"
    loaded = f"graph {graph}, {amount} labeled {done.label}, {how}"
    output.write_lines([loaded, *next_question(graph)])
    if ignored:
        output.note(f"these keys of the file were ignored: {ignored}")
