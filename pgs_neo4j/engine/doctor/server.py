"""Checks of a connected server: rights, schema, GDS, and indexes."""

from __future__ import annotations

from pgs_neo4j.database import gds, queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.version import parse_version
from pgs_neo4j.engine.doctor.check import Check, run_check, skip_checks
from pgs_neo4j.engine.doctor.procedures import GDS_FIX, check_gds_procedures, check_neo4j_procedures
from pgs_neo4j.text.shown import counted

NAMES = ("read", "write", "schema", "Neo4j procedures", "GDS", "GDS procedures", "indexes")
SCHEMA_FOLDER = "database/constraint_"
FIXES = {
    "read": "give the user the right to read this database, as the role 'reader' has",
    "write": "give the user the rights to write and to create labels, as the role 'publisher' has, "
    "and connect to a cluster member that accepts writes (neo4j:// finds one)",
    "schema": "give the user the right to list constraints, as the role 'architect' has",
    "GDS": "install the graph-data-science plugin for this Neo4j version, then restart the server",
    "Neo4j procedures": "give the user the right to list procedures, as the role 'architect' has",
    "GDS procedures": GDS_FIX,
    "indexes": "give the user the right to list indexes, as the role 'architect' has",
}


async def examine_server(db: Database) -> tuple[Check, ...]:
    """Run all checks in the order of ``NAMES``; they change nothing."""
    read = await run_check("read", _check_read(db), FIXES["read"])
    if read.status == "failed":
        return (read, *skip_checks(NAMES[1:], "read failed"))
    checks = [
        read,
        await run_check("write", _check_write(db), FIXES["write"]),
        await run_check("schema", _check_schema(db), FIXES["schema"]),
        await run_check("Neo4j procedures", check_neo4j_procedures(db), FIXES["Neo4j procedures"]),
        await run_check("GDS", _check_gds(db), FIXES["GDS"]),
    ]
    if checks[-1].status == "failed":
        checks += skip_checks(("GDS procedures",), "GDS failed")
    else:
        check = check_gds_procedures(db)
        checks.append(await run_check("GDS procedures", check, FIXES["GDS procedures"]))
    return (*checks, await run_check("indexes", _check_indexes(db), FIXES["indexes"]))


async def _check_read(db: Database) -> Check:
    rows = await db.read(queries.get("engine/doctor/count_nodes"))
    return Check("read", "ok", f"{counted(rows[0]['nodes'], 'node')} can be read")


async def _check_write(db: Database) -> Check:
    await db.rehearse(queries.get("engine/doctor/create_nodes"))
    return Check("write", "ok", "a node was created and rolled back")


async def _check_schema(db: Database) -> Check:
    rows = await db.read(queries.get("engine/doctor/read_constraints"))
    present = set(rows[0]["names"])
    ours = [queries.get(name) for name in queries.names() if name.startswith(SCHEMA_FOLDER)]
    by_name = {f"pgs_{query.name.removeprefix(SCHEMA_FOLDER)}": query for query in ours}
    missing = [name for name in by_name if name not in present]
    if len(missing) == len(by_name):
        return Check("schema", "ok", "not created yet; the first graph will create it")
    if missing:
        statements = "; ".join(by_name[name].statement for name in missing)
        are = "is" if len(missing) == 1 else "are"
        of = counted(len(by_name), "constraint")
        detail = f"{len(missing)} of {of} of pgs_neo4j {are} missing"
        return Check("schema", "warning", detail, f"create them: {statements}")
    return Check(
        "schema",
        "ok",
        f"all of the {counted(len(by_name), 'constraint')} of pgs_neo4j are in place",
    )


async def _check_gds(db: Database) -> Check:
    version = await gds.installed_version(db)
    if parse_version(version) < gds.MINIMUM_VERSION:
        minimum = ".".join(map(str, gds.MINIMUM_VERSION))
        detail = f"GDS is {version}; {minimum} or newer is required"
        return Check("GDS", "failed", detail, "upgrade the graph-data-science plugin")
    return Check("GDS", "ok", f"Graph Data Science {version}")


async def _check_indexes(db: Database) -> Check:
    rows = await db.read(queries.get("engine/doctor/read_indexes"))
    broken = [row["name"] for row in rows if row["state"] == "FAILED"]
    kinds = {"VECTOR": "vector", "FULLTEXT": "full-text"}
    listed = ", ".join(
        f"{row['name']} ({kinds[row['type']]} on {':'.join(row['labels'])}."
        f"{'|'.join(row['properties'])}, {row['state'].lower()})"
        for row in rows
    )
    if broken:
        fix = "drop the failed indexes, then create them again"
        return Check("indexes", "warning", listed, fix)
    return Check("indexes", "ok", listed or "no vector or full-text index; none is required")
