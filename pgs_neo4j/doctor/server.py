"""Checks of a server that can be reached: rights, our schema, GDS, indexes."""

from __future__ import annotations

from pgs_neo4j import gds
from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database, parse_version
from pgs_neo4j.doctor.check import Check, guarded, skipped

NAMES = ("read", "write", "schema", "GDS", "GDS procedures", "indexes")
SCHEMA_FOLDER = "database/constraint_"
PROCEDURES = (
    "gds.graph.drop",
    "gds.graph.list",
    "gds.graph.nodeProperty.stream",
    "gds.kmeans.stats",
    "gds.leiden.mutate",
    "gds.louvain.mutate",
)
FIXES = {
    "read": "let the user read this database, as with the role 'reader'",
    "write": "let the user write and create labels, as with the role 'publisher', and connect "
    "to a member that accepts writes (neo4j:// finds it)",
    "schema": "let the user see constraints, as with the role 'architect'",
    "GDS": "install the graph-data-science plugin that fits this Neo4j, and restart the server",
    "GDS procedures": "set dbms.security.procedures.unrestricted=gds.* in neo4j.conf (and add "
    "gds.* to dbms.security.procedures.allowlist where it is set), and restart the server",
    "indexes": "let the user see indexes, as with the role 'architect'",
}


async def examine_server(db: Database) -> tuple[Check, ...]:
    """All checks of this module, in the order of ``NAMES``. Nothing is left behind."""
    read = await guarded("read", _read(db), FIXES["read"])
    if read.status == "failed":
        return (read, *skipped(NAMES[1:], "read failed"))
    found = [
        read,
        await guarded("write", _write(db), FIXES["write"]),
        await guarded("schema", _schema(db), FIXES["schema"]),
        await guarded("GDS", _gds(db), FIXES["GDS"]),
    ]
    if found[-1].status == "failed":
        found += skipped(("GDS procedures",), "GDS failed")
    else:
        check = _procedures(db)
        found.append(await guarded("GDS procedures", check, FIXES["GDS procedures"]))
    return (*found, await guarded("indexes", _indexes(db), FIXES["indexes"]))


async def _read(db: Database) -> Check:
    rows = await db.read(queries.get("doctor/count_nodes"))
    return Check("read", "ok", f"{rows[0]['nodes']:,} nodes can be read")


async def _write(db: Database) -> Check:
    await db.rehearse(queries.get("doctor/create_nodes"))
    return Check("write", "ok", "a node could be created, and was rolled back")


async def _schema(db: Database) -> Check:
    rows = await db.read(queries.get("doctor/read_constraints"))
    present = set(rows[0]["names"])
    ours = [queries.get(name) for name in queries.names() if name.startswith(SCHEMA_FOLDER)]
    by_name = {f"pgs_{query.name.removeprefix(SCHEMA_FOLDER)}": query for query in ours}
    missing = [name for name in by_name if name not in present]
    if len(missing) == len(by_name):
        return Check("schema", "ok", "none of ours yet; it is created with the first graph")
    if missing:
        statements = "; ".join(_statement(by_name[name].text) for name in missing)
        detail = f"{len(missing)} of {len(by_name)} constraints of ours are missing"
        return Check("schema", "warning", detail, f"create them again: {statements}")
    return Check("schema", "ok", f"all {len(by_name)} constraints of ours are in place")


def _statement(text: str) -> str:
    return " ".join(line for line in text.splitlines() if not line.startswith("//"))


async def _gds(db: Database) -> Check:
    version = await gds.installed_version(db)
    if parse_version(version) < gds.MINIMUM_VERSION:
        wanted = ".".join(map(str, gds.MINIMUM_VERSION))
        detail = f"GDS is {version}, and {wanted} or newer is needed"
        return Check("GDS", "failed", detail, "upgrade the graph-data-science plugin")
    return Check("GDS", "ok", f"Graph Data Science {version}")


async def _procedures(db: Database) -> Check:
    rows = await db.read(queries.get("doctor/read_procedures"), names=list(PROCEDURES))
    missing = sorted(set(PROCEDURES) - set(rows[0]["names"]))
    if missing:
        detail = f"the user may not call {', '.join(missing)}"
        return Check("GDS procedures", "failed", detail, FIXES["GDS procedures"])
    rows = await db.read(queries.get("doctor/read_projections"))
    ours = sum(name.startswith(gds.PREFIX) for name in rows[0]["names"])
    running = f"; {ours} projections of ours exist, of a job that runs or was killed"
    return Check("GDS procedures", "ok", f"they answer{running if ours else ''}")


async def _indexes(db: Database) -> Check:
    rows = await db.read(queries.get("doctor/read_indexes"))
    broken = [row["name"] for row in rows if row["state"] == "FAILED"]
    kinds = {"VECTOR": "vector", "FULLTEXT": "full-text"}
    listed = ", ".join(
        f"{row['name']} ({kinds[row['type']]} on {':'.join(row['labels'])}."
        f"{'|'.join(row['properties'])}, {row['state'].lower()})"
        for row in rows
    )
    if broken:
        fix = "drop the failed indexes and create them again"
        return Check("indexes", "warning", listed, fix)
    return Check("indexes", "ok", listed or "no vector or full-text index; none is needed")
