"""The whole examination, from the configuration to the model."""

from __future__ import annotations

from contextlib import AsyncExitStack

from pgs_neo4j.config import PGSConfig, Settings
from pgs_neo4j.doctor import connection, graphs, server
from pgs_neo4j.doctor.check import Check, skipped
from pgs_neo4j.doctor.connection import Target, reach
from pgs_neo4j.doctor.graphs import examine_graphs
from pgs_neo4j.doctor.models import examine_embedder, examine_models
from pgs_neo4j.doctor.server import examine_server

TIMEOUT_S = 60.0


async def examine(
    settings: Settings,
    config: PGSConfig,
    target: Target | None,
    *,
    local: Check | None = None,
) -> tuple[Check, ...]:
    """Examine everything in the order in which it is needed. Never raises for what is unwell.

    ``target`` is the server that is configured, or the managed local one when it runs, and
    None when there is none; ``local`` is a line about the managed local server. What a
    failed check stands in the way of is skipped. The database is left as it was.
    """
    checks = [Check("configuration", "ok", "all settings are within their ranges")]
    if local is not None:
        checks.append(local)
    embedder, dimensions = await examine_embedder(settings, config)
    async with AsyncExitStack() as stack:
        opened = None
        if target is None:
            checks += skipped(connection.STAGES, "there is no server to connect to")
        else:
            timeout_s = min(config.query_timeout_s, TIMEOUT_S)
            opened, reached = await reach(stack, target, timeout_s)
            checks += reached
        if opened is None:
            checks += skipped((*server.NAMES, *graphs.NAMES), "there is no connection")
        else:
            checks += await examine_server(opened)
            if checks[-1].status == "skipped":
                checks += skipped(graphs.NAMES, "read failed")
            else:
                checks += await examine_graphs(opened, settings.graph, dimensions)
    return (*checks, embedder, *await examine_models(settings, config))
