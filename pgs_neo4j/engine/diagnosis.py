"""``pgs.doctor``, and the same examination when nothing can be connected."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Unpack

from pydantic import SecretStr

from pgs_neo4j import config
from pgs_neo4j.config import ServerAccess, Settings, SettingsOverrides, server_access
from pgs_neo4j.engine.core import Core
from pgs_neo4j.engine.doctor.check import Check, report_unreadable
from pgs_neo4j.engine.doctor.examination import examine
from pgs_neo4j.errors import ConfigError, LocalServerError


@dataclass(frozen=True, slots=True)
class Doctor:
    """Examines a setup. Called, it runs all checks: ``await pgs.doctor()``."""

    _core: Core

    async def __call__(self, *, call: bool = False) -> tuple[Check, ...]:
        """Run every check in order. Problems are reported, not raised.

        With ``call``, each model is also called once, at its usual price and within the limits.
        """
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


def _find_server(settings: Settings) -> tuple[ServerAccess | None, Check | None]:
    """Return the configured server, else the running local one with a check.

    Raises ConfigError when the password must not go to the configured server.
    """
    configured = server_access(settings)
    if configured is not None:
        return configured, None
    fix = "start it with 'pgs local start', or set PGS_NEO4J_URI to your own server"
    try:
        # Imported here: only the managed local server needs the extra [local].
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
