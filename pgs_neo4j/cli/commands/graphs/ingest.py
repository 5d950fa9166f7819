"""`pgs ingest`: make a graph of files."""

from __future__ import annotations

from contextlib import AbstractContextManager

from pgs_neo4j.cli import output
from pgs_neo4j.cli.commands.graphs.ingest_options import (
    ArbiterOption,
    EmbedOption,
    EntityOption,
    GraphName,
    KeyOption,
    LabelOption,
    NameOption,
    PathsArgument,
    PlanOption,
    PrivateOption,
    RefreshOption,
    SchemaOption,
    SyncForgetOption,
    SyncOption,
    TextOption,
    TitleOption,
    check_stdin,
    columns_named,
    sources_named,
)
from pgs_neo4j.cli.knob_options import with_knobs
from pgs_neo4j.cli.options import (
    JsonOption,
    ModelOption,
    QuietOption,
    VerboseOption,
    model_settings,
)
from pgs_neo4j.cli.pages.mapping_words import next_question
from pgs_neo4j.cli.progress.listen import Listener, progress
from pgs_neo4j.cli.run import DONE, PARTIAL, run
from pgs_neo4j.model.ingest import Ingested, IngestPlan
from pgs_neo4j.text.json_data import Json

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
    forget: SyncForgetOption = False,
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
    from pgs_neo4j.cli.commands.questions.plan import unpriced
    from pgs_neo4j.cli.connection import engine, named_graph
    from pgs_neo4j.engine import check_graph_name

    graph = named_graph(graph)
    check_graph_name(graph)
    wanted["columns"] = columns_named(*wanted["columns"])
    check_stdin(paths, name)
    with listening as listener:
        async with engine(listener, **knobs) as pgs:
            with sources_named(paths, name, pgs.ingest.most_bytes(name or "")) as sources:
                if plan:
                    planned = await pgs.ingest.plan(sources, graph, **wanted)
                    missing = unpriced(pgs)
                else:
                    done = await pgs.ingest(sources, graph, **wanted)
    if plan:
        return _tell_planned(planned, missing, as_json=as_json)
    return tell_ingested(done, as_json=as_json)


def _tell_planned(planned: IngestPlan, missing: list[str], *, as_json: bool) -> int:
    """Tell what an ingestion would do; return the exit code.

    ``missing`` are the models without a configured price.
    """
    from pgs_neo4j.cli.pages.documents import ingest_plan
    from pgs_neo4j.cli.pages.documents.ingested import notes

    if as_json:
        output.write_json(ingest_plan.as_json(planned))
    else:
        output.write_lines(ingest_plan.lines(planned, missing, output.width()))
        for note in notes(planned, ingest_plan.FIXES_PLANNED):
            output.note(note)
    unread = any(outcome.unread for outcome in planned.outcomes)
    return PARTIAL if unread or planned.count("failed") else DONE


def tell_ingested(done: Ingested, *, as_json: bool) -> int:
    """Tell what an ingestion did; return the exit code."""
    from pgs_neo4j.cli.pages.documents import ingested

    if as_json:
        output.write_json(ingested.as_json(done))
    else:
        output.write_lines(ingested.lines(done, output.width()))
        output.write_lines(next_question(done.graph) if done.has_documents else [])
        for note in ingested.notes(done):
            output.note(note)
    return DONE if done.complete and not done.partly_read else PARTIAL
