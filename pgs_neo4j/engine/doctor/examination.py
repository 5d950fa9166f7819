"""Examines the whole setup, from the configuration to the model."""

from __future__ import annotations

from contextlib import AsyncExitStack

from pgs_neo4j.config import (
    PGSConfig,
    ServerAccess,
    Settings,
    config_file,
    notices,
    user_config_folder,
)
from pgs_neo4j.engine.doctor import connection, graphs, server
from pgs_neo4j.engine.doctor.calling import call_models
from pgs_neo4j.engine.doctor.check import Check, skip_checks
from pgs_neo4j.engine.doctor.connection import connect_in_stages
from pgs_neo4j.engine.doctor.graphs import examine_graphs
from pgs_neo4j.engine.doctor.models import (
    examine_embedder,
    examine_models,
    examine_reranker,
    sweep_pass_size,
)
from pgs_neo4j.engine.doctor.server import examine_server

TIMEOUT_S = 60.0


def _where() -> str:
    """Return which file the settings are from, or where one would be read."""
    found = config_file()
    if found is not None:
        return f"they are from {found}"
    return f"there is no pgs.toml here or in {user_config_folder()}"


async def examine(
    settings: Settings,
    config: PGSConfig,
    access: ServerAccess | None,
    *,
    local: Check | None = None,
    call: bool = False,
) -> tuple[Check, ...]:
    """Examine everything in order of need; problems never raise.

    ``access`` leads to the configured server or to the running local one; None if there is neither.
    ``local`` is a check of the managed local server. Checks that depend on a failed one are
    skipped. With ``call``, each model is called once at its usual price. The database does not
    change.
    """
    checks = [Check("configuration", "ok", f"all settings are within their ranges; {_where()}")]
    checks += [Check("configuration", "warning", notice) for notice in notices(settings)]
    if local is not None:
        checks.append(local)
    embedder, dimensions = await examine_embedder(settings, config)
    async with AsyncExitStack() as stack:
        opened = None
        if access is None:
            checks += skip_checks(connection.STAGES, "there is no server")
        else:
            timeout_s = min(config.query_timeout_s, TIMEOUT_S)
            opened, stages = await connect_in_stages(stack, access, timeout_s)
            checks += stages
        if opened is None:
            checks += skip_checks((*server.NAMES, *graphs.NAMES), "there is no connection")
        else:
            checks += await examine_server(opened)
            if checks[-1].status == "skipped":
                checks += skip_checks(graphs.NAMES, "read failed")
            else:
                size = sweep_pass_size(settings, config)
                checks += await examine_graphs(opened, settings.graph, dimensions, size)
    reranker = await examine_reranker(settings, config)
    models = await examine_models(settings, config)
    called = await call_models(settings, config) if call else ()
    return (*checks, embedder, *reranker, *models, *called)
