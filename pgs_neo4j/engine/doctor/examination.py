"""``pgs.doctor``: examines the whole setup in order, from the configuration to the model.

``diagnose`` does the same for a setup that cannot be connected.
"""

from __future__ import annotations

from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Unpack

from pydantic import SecretStr

from pgs_neo4j import config
from pgs_neo4j.config import (
    PGSConfig,
    ServerAccess,
    Settings,
    SettingsOverrides,
    config_file,
    notices,
    server_access,
    user_config_folder,
)
from pgs_neo4j.engine.core import Core
from pgs_neo4j.engine.doctor import Check, graphs, report_unreadable, server, skip_checks
from pgs_neo4j.engine.doctor.graphs import examine_graphs
from pgs_neo4j.engine.doctor.models import (
    call_models,
    examine_embedder,
    examine_models,
    examine_reranker,
    sweep_pass_size,
)
from pgs_neo4j.engine.doctor.server import connect_in_stages, examine_server
from pgs_neo4j.errors import ConfigError, LocalServerError

TIMEOUT_S = 60.0
"""Maximum seconds for a query, even if the settings allow more."""


@dataclass(frozen=True, slots=True)
class Doctor:
    """Examines a setup. Called, it runs all checks: ``await pgs.doctor()``."""

    _core: Core

    async def __call__(self, *, call: bool = False) -> tuple[Check, ...]:
        """Run every check in order. Problems are reported, not raised.

        With ``call``, each model is also called once, at its usual price and within the limits.
        Raises ScopeError within a scope.
        """
        self._core.db.require_no_scope("a check examines the whole database")
        settings = self._core.settings
        access, local = _find_server(settings)
        return await examine(settings, self._core.config, access, local=local, call=call)


async def diagnose(
    *, call: bool = False, **settings: Unpack[SettingsOverrides]
) -> tuple[Check, ...]:
    """Examine the configured setup, even if it does not work.

    With ``call``, each model is also called once, at its usual price and within the limits.
    """
    try:
        loaded = config.load(settings)
    except ConfigError as error:
        return report_unreadable(error)
    try:
        access, local = _find_server(loaded.settings)
    except ConfigError as error:
        return report_unreadable(error)
    return await examine(loaded.settings, loaded.config, access, local=local, call=call)


async def examine(
    settings: Settings,
    config: PGSConfig,
    access: ServerAccess | None,
    *,
    local: Check | None = None,
    call: bool = False,
) -> tuple[Check, ...]:
    """Examine everything, each part before the parts that need it.

    Problems are reported, not raised. ``access`` is the configured server, or the running local
    one; None if there is neither. ``local`` is a check of the managed local server. Checks that
    depend on a failed check are skipped. With ``call``, each model is called once at its usual
    price. The database does not change.
    """
    checks = [
        Check("configuration", "ok", f"all settings are within their ranges; {_describe_file()}")
    ]
    checks += [Check("configuration", "warning", notice) for notice in notices(settings)]
    if local is not None:
        checks.append(local)
    embedder, dimensions = await examine_embedder(settings, config)
    async with AsyncExitStack() as stack:
        opened = None
        if access is None:
            checks += skip_checks(server.STAGES, "there is no server")
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


def _describe_file() -> str:
    """Describe which file the settings are from, or in which folders no file was found."""
    found = config_file()
    if found is not None:
        return f"they are from {found}"
    return f"there is no pgs.toml here or in {user_config_folder()}"


def _find_server(settings: Settings) -> tuple[ServerAccess | None, Check | None]:
    """Return the configured server, else the running local one with a check.

    Raises ConfigError when the password must not go to the configured server.
    """
    configured = server_access(settings)
    if configured is not None:
        return configured, None
    fix = "start it with 'pgs local start', or set PGS_NEO4J_URI to your own server"
    try:
        # Import here, because only the managed local server needs the extra [local].
        from pgs_neo4j.database.local import options, server

        local_options = options.options_from_environment()
        status = server.status(local_options)
        running = server.running_access(local_options)
    except LocalServerError as error:
        return None, Check("local server", "failed", str(error), fix)
    if running is None:
        detail = "it is starting, or does not listen" if status.running else "it is not running"
        return None, Check("local server", "warning", detail, fix)
    uri, password = running
    check = Check("local server", "ok", f"runs as process {status.pid} at {uri}")
    return ServerAccess(uri=uri, password=SecretStr(password)), check
