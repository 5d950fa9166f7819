"""Checks of the stored graphs: their mappings and their embeddings."""

from __future__ import annotations

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.search_indexes import SearchIndex, list_search_indexes
from pgs_neo4j.engine import catalog
from pgs_neo4j.engine.catalog import ENTITIES, StoredGraph
from pgs_neo4j.engine.doctor.check import Check
from pgs_neo4j.engine.doctor.search import check_search
from pgs_neo4j.engine.survey.sample import survey
from pgs_neo4j.engine.survey.validation import check_survey, check_values
from pgs_neo4j.engine.survey.values import Survey
from pgs_neo4j.engine.survey.weighing import count_embedding_sizes
from pgs_neo4j.engine.survey.wording import quote_name
from pgs_neo4j.errors import PGSError
from pgs_neo4j.pgs.partitioning import generation
from pgs_neo4j.pgs.sweeping.fit import fitting_limit, is_narrower, most_tokens, repartition_command
from pgs_neo4j.search.paths.indexes import covering_indexes
from pgs_neo4j.search.paths.members import is_quick
from pgs_neo4j.text.shown import counted, percent

NAMES = ("graphs",)
MIN_SHARE = 0.5  # of nodes with an embedding; below, centroids represent a minority
EMPTY = "it holds no text yet; 'pgs ingest' adds documents"
INGESTED_FIX = (
    "another program has written to the nodes of this graph: undo that, or make the graph again "
    "with 'pgs documents delete --all' and 'pgs ingest'"
)
MAPPING_FIX = "store the mapping again with 'pgs graph add'; 'pgs inspect' proposes one"


async def examine_graphs(
    db: Database, configured: str | None, dimensions: int | None, size: float
) -> tuple[Check, ...]:
    """Return one check for the catalog, and up to four per graph.

    These are of its mapping, of its embeddings, of what searches can compare, and of partitions
    that are too long. ``configured`` is the name of the configured graph. ``dimensions`` is the
    length of the embedder's vectors, if known; ``size`` is the estimated tokens of one pass.
    """
    try:
        stored = await catalog.graphs(db)
    except PGSError as error:
        fix = "let the user read the data of pgs_neo4j, or remove it with 'pgs purge'"
        return (Check("graphs", "failed", str(error), fix),)
    checks = [_check_catalog(stored, configured)]
    indexes = await _list_indexes(db)
    ingested = _list_ingested(stored)
    for graph in stored:
        try:
            content = await survey(db, graph.mapping.labels, graph.mapping.relationship_types)
        except PGSError as error:
            fix = "check the server's log, then run the command again"
            checks.append(Check(f"graph {graph.name}", "failed", str(error), fix))
            continue
        checks.append(_check_mapping(graph, content, ingested=graph.name in ingested))
        if graph.mapping.embedding is not None:
            checks.append(await _check_embeddings(db, graph, content, dimensions))
        if indexes is not None:
            checks.append(check_search(graph, indexes))
        if graph.generation is not None:
            checks += await _check_partitions(db, graph, size)
    return tuple(checks)


async def _list_indexes(db: Database) -> list[SearchIndex] | None:
    """Return the indexes, or None if they cannot be listed; the check of indexes says why."""
    try:
        return await list_search_indexes(db)
    except PGSError:
        return None


def _check_catalog(stored: list[StoredGraph], configured: str | None) -> Check:
    names = [graph.name for graph in stored]
    if configured is not None and configured not in names:
        detail = f"PGS_GRAPH names {quote_name(configured)}, which is not stored"
        fix = f"name one of {', '.join(names)}" if names else "store it with 'pgs graph add'"
        return Check("graphs", "failed", detail, fix)
    listed = ", ".join(names)
    return Check("graphs", "ok", listed or "none yet; 'pgs graph add' or 'pgs load' adds one")


def _list_ingested(stored: list[StoredGraph]) -> set[str]:
    """Return the graphs that ingestions made: of documents, and of the entities in them."""
    documents = {graph.name for graph in stored if graph.mapping.chunk_labels}
    return documents | {f"{name}{ENTITIES}" for name in documents}


def _check_mapping(graph: StoredGraph, content: Survey, *, ingested: bool) -> Check:
    name = f"graph {graph.name}"
    if not content.labels and ingested:
        # The ingestion stores the mapping, and no other one would find more.
        found = "no entity was found in its documents" if graph.name.endswith(ENTITIES) else EMPTY
        return Check(name, "ok", found)
    if not content.labels:
        return Check(name, "failed", "its mapping matches no node", MAPPING_FIX)
    state = "not partitioned yet; the first question will do it"
    if graph.generation is not None:
        state = (
            f"generation {graph.generation}, {counted(graph.partition_count or 0, 'partition')} "
            f"of {counted(graph.node_count or 0, 'node')}"
        )
    warnings = (check_values if ingested else check_survey)(content, graph.mapping)
    if warnings:
        fix = INGESTED_FIX if ingested else MAPPING_FIX
        return Check(name, "warning", f"{state}; {'; '.join(warnings)}", fix)
    return Check(name, "ok", state)


async def _check_partitions(db: Database, graph: StoredGraph, size: float) -> list[Check]:
    """Return a warning if partitions are longer than one pass, else nothing.

    Nothing either if they were already made within the limit that would be advised: making them
    again would change nothing.
    """
    limit = fitting_limit(size)
    try:
        rows = await db.read(
            queries.get("engine/doctor/count_large_partitions"),
            generation=graph.generation,
            tokens=most_tokens(size),
        )
        large, count = rows[0]["large"], rows[0]["partitions"]
        current = await generation.read_current(db, graph.name) if large else None
    except PGSError as error:
        fix = "check the server's log, then run the command again"
        return [Check(f"partitions of {graph.name}", "failed", str(error), fix)]
    if current is None or not is_narrower(limit, current.knobs):
        return []
    detail = f"{large:,} of {count:,} are longer than one pass, so they are read in parts"
    fix = f"run {repartition_command(graph.name, limit)}, so that one pass shows a partition whole"
    return [Check(f"partitions of {graph.name}", "warning", detail, fix)]


async def _check_embeddings(
    db: Database, graph: StoredGraph, content: Survey, dimensions: int | None
) -> Check:
    """Compare the sampled vectors with those of the embedder, and look for an index on them."""
    name, embedding = f"embeddings of {graph.name}", graph.mapping.embedding or ""
    sizes = count_embedding_sizes(content, embedding)
    sizes.pop(0, None)
    if not sizes:
        detail = f"no sampled node has vectors in {quote_name(embedding)}"
        return Check(name, "failed", detail, "map another property, or none, as embedding")
    common = max(sizes, key=lambda size: (sizes[size], size))
    share = _embedding_share(content, embedding)
    detail = f"{common} dimensions, on {percent(share)} of the sampled nodes"
    if dimensions is not None and dimensions != common:
        fix = "set PGS_EMBEDDING_MODEL to the model of the stored vectors"
        return Check(name, "warning", f"{detail}; those of the embedder have {dimensions}", fix)
    if len(sizes) > 1:
        others = ", ".join(str(size) for size in sorted(sizes) if size != common)
        fix = "embed all nodes with one model; vectors of other sizes are ignored"
        return Check(name, "warning", f"{detail}; others have {others}", fix)
    if share < MIN_SHARE:
        fix = "embed the rest, or set PGS_EMBEDDER=hashing, which reads every text"
        return Check(name, "warning", detail, fix)
    count = round(share * sum(label.count for label in content.labels))
    if not is_quick(count, common) and not await covering_indexes(db, graph.mapping, common):
        fix = f"'pgs index create --graph {graph.name}' lets them count when questions are routed"
        return Check(name, "warning", f"{detail}; no vector index covers them", fix)
    return Check(name, "ok", detail)


def _embedding_share(content: Survey, embedding: str) -> float:
    """Return the share of nodes with a vector, labels weighted by nodes."""
    total = sum(sample.count for sample in content.labels if sample.sampled)
    return sum(
        sample.count * sum(nodes for size, nodes in item.sizes if size) / sample.sampled / total
        for sample in content.labels
        for item in sample.properties
        if item.name == embedding
    )
