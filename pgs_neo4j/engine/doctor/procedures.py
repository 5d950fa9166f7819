"""Checks of the procedures that this package calls: some releases lack one, some users a right."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from pgs_neo4j.database import gds, queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.engine.doctor.check import Check

GDS_PROCEDURES = (
    "gds.graph.drop",
    "gds.graph.list",
    "gds.graph.nodeProperty.stream",
    "gds.graph.project",
    "gds.kmeans.stats",
    "gds.leiden.mutate",
    "gds.louvain.mutate",
    "gds.wcc.mutate",
)
GDS_FIX = (
    "set dbms.security.procedures.unrestricted=gds.* in neo4j.conf (and add "
    "gds.* to dbms.security.procedures.allowlist if it is set), then restart the server"
)
RELEASE_FIX = "upgrade pgs-neo4j, or use a release that has it; 'pgs help operations' names some"
RIGHT_FIX = "give the user the right to execute it, as the role 'architect' has"
# Procedures of Neo4j, and what fails without them.
LOSSES: Mapping[str, str] = MappingProxyType(
    {
        "db.createLabel": "nothing can be stored",
        "db.createProperty": "nothing can be stored",
        "db.createRelationshipType": "nothing can be stored",
        "db.create.setNodeVectorProperty": "'pgs ingest PATH --graph NAME --embed' fails",
        "db.create.setRelationshipVectorProperty": "'pgs ingest PATH --graph NAME --embed' fails",
        "db.index.fulltext.queryNodes": "searches fail where a full-text index covers the texts",
        "db.index.vector.queryNodes": "questions fail where a vector index covers the embeddings",
        "db.index.vector.queryRelationships": (
            "searches find no facts where a vector index covers them"
        ),
        "db.labels": "graphs cannot be proposed or partitioned",
        "db.relationshipTypes": "graphs cannot be proposed or partitioned",
        "db.stats.retrieve": "graphs cannot be proposed or partitioned",
    }
)


async def check_gds_procedures(db: Database) -> Check:
    """Check that the procedures of GDS exist and can be called."""
    name = "GDS procedures"
    absent, forbidden = await _read_missing(db, GDS_PROCEDURES)
    if absent:
        version = await gds.installed_version(db)
        detail = f"Graph Data Science {version} has no {', '.join(absent)}"
        return Check(name, "failed", detail, RELEASE_FIX)
    if forbidden:
        detail = f"the user may not call {', '.join(forbidden)}"
        return Check(name, "failed", detail, GDS_FIX)
    rows = await db.read(queries.get("engine/doctor/read_projections"))
    ours = sum(projection.startswith(gds.PREFIX) for projection in rows[0]["names"])
    leftovers = f"; a running or killed job left {ours} projections"
    return Check(name, "ok", f"all can be called{leftovers if ours else ''}")


async def check_neo4j_procedures(db: Database) -> Check:
    """Check the procedures of Neo4j; name what fails without one."""
    name = "Neo4j procedures"
    absent, forbidden = await _read_missing(db, LOSSES)
    if absent:
        detail = f"Neo4j {db.version} has no {_describe_losses(absent)}"
        return Check(name, "warning", detail, RELEASE_FIX)
    if forbidden:
        detail = f"the user may not call {_describe_losses(forbidden)}"
        return Check(name, "warning", detail, RIGHT_FIX)
    return Check(name, "ok", "all can be called")


async def _read_missing(db: Database, names: Iterable[str]) -> tuple[list[str], list[str]]:
    """Return the procedures that the release lacks, and those the user may not call."""
    wanted = sorted(names)
    callable_names = await _read_names(db, "engine/doctor/read_procedures", wanted)
    uncalled = [name for name in wanted if name not in callable_names]
    if not uncalled:
        return [], []
    # A user without the right to list procedures sees none: then nothing is known to be absent.
    installed = await _read_names(db, "engine/doctor/read_installed", wanted)
    absent = [name for name in uncalled if name not in installed] if installed else []
    return absent, [name for name in uncalled if name not in absent]


async def _read_names(db: Database, statement: str, names: list[str]) -> set[str]:
    return set((await db.read(queries.get(statement), names=names))[0]["names"])


def _describe_losses(names: Iterable[str]) -> str:
    return "; ".join(f"{name}: {LOSSES[name]}" for name in names)
