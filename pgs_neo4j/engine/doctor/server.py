"""Checks of the server: whether it can be reached, and whether the user may do what pgs needs.

The first checks cover the stages from the address to an open connection. The others cover rights,
schema, procedures, GDS, and indexes. A release may lack a procedure that pgs calls, or the user may
lack the right to call it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import AsyncExitStack
from types import MappingProxyType

from pgs_neo4j.config import ServerAccess, masked_address
from pgs_neo4j.database import connection, gds, queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.server import parse_version
from pgs_neo4j.engine.doctor import Check, run_check, skip_checks
from pgs_neo4j.errors import (
    ConfigError,
    DatabaseAuthError,
    DatabaseCertificateError,
    DatabaseError,
    DatabaseTimeoutError,
    DatabaseUnavailableError,
    DatabaseVersionError,
)
from pgs_neo4j.text.shown import counted

STAGES = ("address", "connection", "credentials", "database", "Neo4j version")
CONNECT_TIMEOUT_S = 5.0
STAGE_FIXES = {
    "address": "set PGS_NEO4J_URI to an address such as bolt://localhost:7687",
    "connection": "start the server; check the host, the port, and TLS "
    "(bolt+s:// or neo4j+s:// if the server requires it)",
    "certificate": "set PGS_NEO4J_CA to the file of its CA certificate, as your administrator or "
    "cloud provides it; bolt+ssc:// or neo4j+ssc:// would trust any certificate",
    "credentials": "set PGS_NEO4J_USER and PGS_NEO4J_PASSWORD to valid credentials; the initial "
    "password must be changed once (ALTER CURRENT USER SET PASSWORD)",
    "database": "set PGS_NEO4J_DATABASE to a database that is online, or unset it",
    "Neo4j version": "upgrade the server to Neo4j 5.26 or newer",
}
NAMES = ("read", "write", "schema", "Neo4j procedures", "GDS", "GDS procedures", "indexes")
SCHEMA_FOLDER = "database/constraint_"
GDS_FIX = (
    "set dbms.security.procedures.unrestricted=gds.* in neo4j.conf (and add "
    "gds.* to dbms.security.procedures.allowlist if it is set), then restart the server"
)
RELEASE_FIX = "upgrade pgs-neo4j, or use a release that has it; 'pgs help operations' names some"
RIGHT_FIX = "give the user the right to execute it, as the role 'architect' has"
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


async def connect_in_stages(
    stack: AsyncExitStack, access: ServerAccess, timeout_s: float
) -> tuple[Database | None, tuple[Check, ...]]:
    """Connect until ``stack`` closes, and return the database with a check of each stage.

    The database is None if a stage failed.
    """
    password = access.password.get_secret_value() if access.password is not None else None
    opening = connection.connect(
        access.uri,
        access.user,
        password,
        access.database,
        timeout_s,
        CONNECT_TIMEOUT_S,
        ca=access.ca,
    )
    try:
        opened = await stack.enter_async_context(opening)
    except (ConfigError, DatabaseError) as error:
        stage = _find_failed_stage(error)
        fix = "certificate" if isinstance(error, DatabaseCertificateError) else stage
        return None, _report_failure(stage, access, str(error), STAGE_FIXES[fix])
    languages = f"Cypher {' and '.join(opened.languages)}"
    version = f"Neo4j {opened.version}, {opened.edition} edition, {languages}"
    return opened, (*_report_passed(STAGES[:-1], access), Check(STAGES[-1], "ok", version))


def _find_failed_stage(error: ConfigError | DatabaseError) -> str:
    if isinstance(error, ConfigError):
        return "address"
    if isinstance(error, DatabaseUnavailableError | DatabaseTimeoutError):
        return "connection"
    if isinstance(error, DatabaseAuthError):
        return "credentials"
    return "Neo4j version" if isinstance(error, DatabaseVersionError) else "database"


def _report_failure(stage: str, access: ServerAccess, detail: str, fix: str) -> tuple[Check, ...]:
    place = STAGES.index(stage)
    return (
        *_report_passed(STAGES[:place], access),
        Check(stage, "failed", detail, fix),
        *skip_checks(STAGES[place + 1 :], f"{stage} failed"),
    )


def _report_passed(stages: tuple[str, ...], access: ServerAccess) -> tuple[Check, ...]:
    details = {
        "address": masked_address(access.uri),
        "connection": "the server answers",
        "credentials": f"user {access.user} is accepted"
        if access.password is not None
        else "the server requires no credentials",
        "database": access.database or "the user's home database",
    }
    return tuple(Check(stage, "ok", details[stage]) for stage in stages)


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
    """Check the procedures of Neo4j, and say what fails without a missing one."""
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
    # A user without the right to list procedures sees none, so nothing is known to be absent.
    installed = await _read_names(db, "engine/doctor/read_installed", wanted)
    absent = [name for name in uncalled if name not in installed] if installed else []
    return absent, [name for name in uncalled if name not in absent]


async def _read_names(db: Database, statement: str, names: list[str]) -> set[str]:
    return set((await db.read(queries.get(statement), names=names))[0]["names"])


def _describe_losses(names: Iterable[str]) -> str:
    return "; ".join(f"{name}: {LOSSES[name]}" for name in names)
