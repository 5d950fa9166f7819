"""The schema of this package: its labels, types, properties, and constraints.

``purge`` removes the labels and types that are listed here. ``read_change_token`` shows whether
another program has changed the data.
"""

from __future__ import annotations

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.errors import DatabaseVersionError

SCHEMA_VERSION = 1  # Version 2 will be the first that must migrate stored data.
TOKEN_ATTEMPTS = 5

LABELS = (
    "PgsGraph",
    "PgsGeneration",
    "PgsPartition",
    "PgsLease",
    "PgsJob",
    "PgsSession",
    "PgsRun",
    "PgsSweep",
    "PgsFinding",
    "PgsFlag",
    "PgsAbsence",
    "PgsThesis",
    "PgsConnection",
    "PgsConvergence",
    "PgsReply",
    "PgsPurchase",
    "PgsSpending",
    "PgsLoad",
    "PgsIngest",
    "PgsExtraction",
    "PgsDeletion",
    "PgsName",
    "PgsStaged",
    "PgsMeta",
    "PgsSegment",
    "PgsPostings",
    "PgsTriplet",
    "PgsWeight",
    "PgsSkeleton",
    "PgsAnalogies",
    "PgsView",
)
TYPES = (
    "PGS_OF",
    "PGS_CURRENT",
    "PGS_PART_OF",
    "PGS_PARENT",
    "PGS_IN",
    "PGS_ADJACENT",
    "PGS_RAN_IN",
    "PGS_ON",
    "PGS_SWEPT",
    "PGS_READ",
    "PGS_FROM",
    "PGS_CITES",
    "PGS_JOINS",
    "PGS_SEEN_IN",
    "PGS_INDEXED_IN",
    "PGS_ABOUT",
    "PGS_SOURCE",
    "PGS_TARGET",
    "PGS_RATED",
    "PGS_ISOMORPHIC",
    "PGS_SHOWED",
    "PGS_SEEN",
)
# Neo4j needs an extra transaction for each new name, so ``ensure_schema`` creates all names at
# once.
PROPERTIES = (
    "abstract",
    "acquired_at",
    "algorithm",
    "alias",
    "answer",
    "asked_at",
    "attached",
    "bits",
    "block_1",
    "block_2",
    "block_3",
    "block_4",
    "block_5",
    "cache_read_tokens",
    "cache_write_tokens",
    "cached",
    "calls",
    "centroid",
    "checked_at",
    "chunks_unproven",
    "citations",
    "claimed",
    "claimed_at",
    "commits",
    "common",
    "commonplace",
    "complete",
    "conductance",
    "config",
    "cost",
    "count",
    "counted",
    "coverage",
    "created_at",
    "crosscheck",
    "data",
    "day",
    "definition",
    "delta",
    "details",
    "dimensions",
    "documents",
    "documents_together",
    "domain_state",
    "doubts",
    "drift",
    "edges",
    "embedder",
    "ended_at",
    "entity_key",
    "entity_type",
    "error",
    "errors",
    "expires_at",
    "facts",
    "fence",
    "figures",
    "fingerprint",
    "finished_at",
    "first",
    "former",
    "found",
    "generation",
    "graph",
    "graphs",
    "grown",
    "hash",
    "holder",
    "id",
    "idempotency",
    "input_tokens",
    "issues",
    "key",
    "keywords",
    "kind",
    "knobs",
    "known",
    "label",
    "level",
    "levels",
    "lineage",
    "links",
    "making",
    "mapping",
    "merged",
    "method",
    "misquoted",
    "missing",
    "mode",
    "model",
    "modularity",
    "moved_at",
    "name",
    "node_count",
    "nodes",
    "nodes_read",
    "nodes_shown",
    "nodes_unproven",
    "options",
    "origin",
    "outcome",
    "output_tokens",
    "own_resolver",
    "partition",
    "partition_count",
    "partitions",
    "passes",
    "passes_accepted",
    "place",
    "plain",
    "pool",
    "pooled_nodes",
    "pools",
    "private",
    "proven",
    "publication",
    "question",
    "quotes",
    "rank",
    "rated_at",
    "raw",
    "raw_modularity",
    "read_first",
    "read_last",
    "reductions",
    "relationship_count",
    "request",
    "resolver",
    "routing",
    "run",
    "runs",
    "schema_version",
    "scope",
    "searched",
    "seconds",
    "sentences",
    "session",
    "settings",
    "short",
    "size",
    "sizes",
    "skeleton",
    "sketch",
    "split",
    "standing",
    "started_at",
    "status",
    "stopped",
    "struck",
    "struck_reasons",
    "summary",
    "supported",
    "synthesized",
    "tally",
    "target",
    "task",
    "terms",
    "text",
    "texts",
    "texts_read",
    "thesis",
    "titles",
    "token",
    "tokens",
    "traits",
    "type",
    "type_labels",
    "uid",
    "unpriced",
    "unproven_first",
    "unproven_last",
    "updated_at",
    "usage",
    "used_at",
    "warnings",
    "wave",
    "weight",
    "without_text",
    "words",
)


async def ensure_schema(db: Database) -> None:
    """Create missing constraints and names.

    Needs one quick read if the database is up to date. Raises DatabaseVersionError if a later
    release of this package has written to the database.
    """
    rows = await db.read(queries.get("database/read_version"))
    stored = rows[0]["version"] if rows else 0
    if stored == SCHEMA_VERSION:
        return
    if stored > SCHEMA_VERSION:
        raise DatabaseVersionError(
            f"the database has schema version {stored} of pgs-neo4j, and this release knows only "
            f"{SCHEMA_VERSION}; upgrade pgs-neo4j, or use another database"
        )
    for name in queries.names():
        if name.startswith(("database/constraint_", "database/index_")):
            await db.write(queries.get(name))
    await db.write(
        queries.get("database/create_names"),
        labels=list(LABELS),
        types=list(TYPES),
        properties=list(PROPERTIES),
    )
    await db.write(queries.get("database/merge_meta"), version=SCHEMA_VERSION)


async def read_change_token(db: Database) -> str | None:
    """Return a token that stays the same until another program commits; O(1).

    The token is the number of the last transaction minus the commits that ``Database.write``
    counted. Returns None when other transactions keep committing, or when the form of the bookmarks
    is unknown.
    """
    for _ in range(TOKEN_ATTEMPTS):
        before = await db.read_position()
        rows = await db.read(queries.get("database/read_commits"))
        if before is None or not rows:
            return None
        # The count belongs to this position only if nothing was committed during the two reads.
        if await db.read_position() == before:
            return f"{before.store}:{before.transaction - rows[0]['commits']}"
    return None
