"""Checks of the stored graphs: mappings, partitions, embeddings, and indexes for searches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.search_indexes import SearchIndex, list_search_indexes
from pgs_neo4j.engine import catalog
from pgs_neo4j.engine.catalog import ENTITIES, StoredGraph
from pgs_neo4j.engine.doctor import Check
from pgs_neo4j.engine.survey.sample import survey
from pgs_neo4j.engine.survey.validation import check_survey, check_values
from pgs_neo4j.engine.survey.values import Survey, quote_name
from pgs_neo4j.engine.survey.weighing import count_embedding_sizes
from pgs_neo4j.errors import PGSError
from pgs_neo4j.model import GraphMapping
from pgs_neo4j.pgs.partitioning import generation
from pgs_neo4j.pgs.sweeping.pack import fitting_limit, is_narrower, most_tokens, repartition_command
from pgs_neo4j.search.evidence import can_compare_all
from pgs_neo4j.search.known_indexes import covering_indexes, covering_text_indexes
from pgs_neo4j.text.shown import counted, percent

NAMES = ("graphs",)
MIN_SHARE = 0.5  # of nodes with an embedding; below it, centroids represent a minority
EMPTY = "it holds no text yet; 'pgs ingest' adds documents"
INGESTED_FIX = (
    "another program has written to the nodes of this graph: undo that, or make the graph again "
    "with 'pgs documents delete --all' and 'pgs ingest'"
)
MAPPING_FIX = "store the mapping again with 'pgs graph add'; 'pgs inspect' proposes one"
MOST_LISTED = 8


async def examine_graphs(
    db: Database, configured: str | None, dimensions: int | None, size: float
) -> tuple[Check, ...]:
    """Return one check for the catalog, and up to five per graph.

    The checks of a graph examine its mapping, the properties that divide it among scopes, its
    embeddings, its indexes for searches, and the length of its partitions. ``configured`` is the
    name of the configured graph. ``dimensions`` is the length of the embedder's vectors, if known.
    ``size`` is the estimated number of tokens that fit into one pass.
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
        if graph.mapping.scope:
            checks.append(await _check_scope(db, graph))
        if graph.mapping.embedding is not None:
            checks.append(await _check_embeddings(db, graph, content, dimensions))
        if indexes is not None:
            checks.append(check_search(graph, indexes))
        if graph.generation is not None:
            checks += await _check_partitions(db, graph, size)
    return tuple(checks)


async def _list_indexes(db: Database) -> list[SearchIndex] | None:
    """Return the indexes; None if they cannot be listed, which the check ``indexes`` reports."""
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
    """Return the names of graphs that ingestions made: graphs of documents and of entities."""
    documents = {graph.name for graph in stored if graph.mapping.chunk_labels}
    return documents | {f"{name}{ENTITIES}" for name in documents}


def _check_mapping(graph: StoredGraph, content: Survey, *, ingested: bool) -> Check:
    name = f"graph {graph.name}"
    if not content.labels and ingested:
        # This mapping was stored by an ingestion, so changing it would not find more nodes.
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


async def _check_scope(db: Database, graph: StoredGraph) -> Check:
    """Count the nodes that no scope sees, because they lack a property that divides the graph."""
    name, properties = f"scopes of {graph.name}", list(graph.mapping.scope)
    listed = " and ".join(map(quote_name, properties))
    query = queries.get("engine/doctor/count_undivided")
    try:
        rows = await db.read(query, labels=list(graph.mapping.labels), properties=properties)
    except PGSError as error:
        fix = "check the server's log, then run the command again"
        return Check(name, "failed", str(error), fix)
    nodes, lacking = counted(rows[0]["nodes"], "node"), rows[0]["lacking"]
    if not lacking:
        return Check(name, "ok", f"{nodes} divided by {listed}")
    fix = "set the property on each node that belongs to a scope"
    return Check(name, "warning", f"no scope sees {lacking:,} of {nodes}, which lack {listed}", fix)


async def _check_partitions(db: Database, graph: StoredGraph, size: float) -> list[Check]:
    """Return a warning if partitions are longer than one pass, else nothing.

    Also returns nothing if the partitions were already made with the limit that the warning would
    advise, because making them again would change nothing.
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
    """Compare the sampled vectors with those of the embedder, and look for a vector index."""
    name, embedding = f"embeddings of {graph.name}", graph.mapping.embedding or ""
    sizes = count_embedding_sizes(content, embedding)
    sizes.pop(0, None)
    if not sizes:
        detail = f"no sampled node has vectors in {quote_name(embedding)}"
        return Check(name, "failed", detail, "map another property, or none, as embedding")
    common = max(sizes, key=lambda size: (sizes[size], size))
    share = _measure_embedding_share(content, embedding)
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
    if not can_compare_all(count, common) and not await covering_indexes(db, graph.mapping, common):
        fix = f"'pgs index create --graph {graph.name}' lets them count when questions are routed"
        return Check(name, "warning", f"{detail}; no vector index covers them", fix)
    return Check(name, "ok", detail)


def _measure_embedding_share(content: Survey, embedding: str) -> float:
    """Return the share of nodes with a vector, 0 to 1; labels are weighted by their nodes."""
    total = sum(sample.count for sample in content.labels if sample.sampled)
    return sum(
        sample.count * sum(nodes for size, nodes in item.sizes if size) / sample.sampled / total
        for sample in content.labels
        for item in sample.properties
        if item.name == embedding
    )


def check_search(graph: StoredGraph, indexes: Sequence[SearchIndex]) -> Check:
    """Report what the indexes of a graph cover, and the command that creates missing ones.

    No index is required, so the check always passes, and the command is optional.
    """
    mapping = graph.mapping
    usable = [index for index in indexes if index.state == "ONLINE"]
    parts, options = [_describe_words(graph, usable)], []
    if mapping.words and _list_incomplete_labels(mapping, usable):
        options.append("--text")
    if mapping.embedding:
        parts.append(_describe_vectors(mapping, usable))
        if _list_labels_without_vectors(mapping, usable):
            options.append("--vectors")
    if mapping.relationship_embedding:
        facts = _list_fact_indexes(mapping, usable)
        parts.append(f"facts by {_name_indexes(facts)}" if facts else "facts without an index")
        options += [] if facts else ["--facts"]
    if options:
        command = f"pgs index create --graph {graph.name} {' '.join(options)}"
        parts.append(f"optional: {command}")
    return Check(f"search of {graph.name}", "ok", "; ".join(parts))


def _describe_words(graph: StoredGraph, indexes: Sequence[SearchIndex]) -> str:
    mapping = graph.mapping
    if not mapping.words:
        return "no words, because the mapping names neither text nor title"
    own = graph.generation is not None and not graph.redefined
    instead = "by the text index of the partitions" if own else "by reading every text"
    if not mapping.labels:
        return f"words {instead}, because the mapping names no label for a full-text index"
    covering = covering_text_indexes(indexes, mapping)
    if not covering:
        uncovered = [
            label
            for label in mapping.labels
            if mapping.list_words(label)
            and not covering_text_indexes(indexes, replace(mapping, labels=(label,)))
        ]
        return (
            f"words {instead}, because no full-text index holds texts of {_join_names(uncovered)}"
        )
    rest = _list_incomplete_labels(mapping, indexes)
    lacking = f", which lacks some texts of {_join_names(rest)}" if rest else ""
    return f"words by {_name_indexes(covering)}{lacking}"


def _list_incomplete_labels(mapping: GraphMapping, indexes: Sequence[SearchIndex]) -> list[str]:
    """Return the labels that have no full-text index on all of their texts."""
    return [
        label
        for label in mapping.labels
        if mapping.list_words(label)
        and not any(
            _is_text_index(index)
            and label in index.labels
            and {*mapping.list_words(label)} <= {*index.properties}
            for index in indexes
        )
    ]


def _describe_vectors(mapping: GraphMapping, indexes: Sequence[SearchIndex]) -> str:
    if not mapping.labels:
        return "embeddings without an index, because the mapping names no label"
    uncovered = _list_labels_without_vectors(mapping, indexes)
    if not uncovered:
        return f"embeddings by {_name_indexes(_list_vector_indexes(mapping, indexes))}"
    return f"embeddings without an index on {_join_names(uncovered)}"


def _list_vector_indexes(
    mapping: GraphMapping, indexes: Sequence[SearchIndex]
) -> list[SearchIndex]:
    return [
        index
        for index in indexes
        if _is_vector_index(index, "node", mapping.embedding) and index.label in mapping.labels
    ]


def _list_labels_without_vectors(
    mapping: GraphMapping, indexes: Sequence[SearchIndex]
) -> list[str]:
    covered = {index.label for index in _list_vector_indexes(mapping, indexes)}
    return [label for label in mapping.labels if label not in covered]


def _list_fact_indexes(mapping: GraphMapping, indexes: Sequence[SearchIndex]) -> list[SearchIndex]:
    return [
        index
        for index in indexes
        if _is_vector_index(index, "relationship", mapping.relationship_embedding)
        and (not mapping.relationship_types or index.label in mapping.relationship_types)
    ]


def _is_text_index(index: SearchIndex) -> bool:
    return (index.kind, index.entity) == ("text", "node")


def _is_vector_index(index: SearchIndex, entity: str, embedding: str | None) -> bool:
    """Return whether an index compares vectors of this property by their cosine."""
    return (
        (index.kind, index.entity, index.property) == ("vector", entity, embedding)
        and bool(index.dimensions)
        and (index.similarity or "").upper() == "COSINE"
    )


def _name_indexes(indexes: Sequence[SearchIndex]) -> str:
    return f"index {_join_names([index.name for index in indexes])}"


def _join_names(names: Sequence[str]) -> str:
    listed = ", ".join(map(quote_name, names[:MOST_LISTED]))
    more = len(names) - MOST_LISTED
    return f"{listed}, and {more} more" if more > 0 else listed
