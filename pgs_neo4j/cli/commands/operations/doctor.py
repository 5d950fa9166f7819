"""`pgs doctor`: what is well, what is not, and how to mend it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pgs_neo4j.cli import output
from pgs_neo4j.cli.options import JsonOption
from pgs_neo4j.cli.run import DATABASE, DONE, MODEL, USAGE, run
from pgs_neo4j.errors import ConfigError, LocalServerError
from pgs_neo4j.text.json_data import plain_data
from pgs_neo4j.text.shown import one_line

if TYPE_CHECKING:
    from pgs_neo4j.config import Loaded
    from pgs_neo4j.doctor import Check, Target

MARKS = {"ok": "ok", "warning": "warn", "failed": "FAIL", "skipped": "skip"}
MODEL_CHECKS = frozenset({"model", "sweep model", "synthesis model", "embedder"})


def doctor(as_json: JsonOption = False) -> None:
    """Check the set-up and say how to fix it.

    Looks at configuration, database, GDS, graphs, embeddings, and models.

    Exit codes: 0 nothing failed, 2 configuration, 5 database, 6 model.
    """
    run(_doctor(as_json=as_json))


async def _doctor(*, as_json: bool) -> int:
    from pgs_neo4j import config
    from pgs_neo4j import doctor as examiner

    try:
        loaded = config.load()
    except ConfigError as error:
        checks = examiner.unreadable(error)
    else:
        target, local = _target(loaded)
        checks = await examiner.examine(loaded.settings, loaded.config, target, local=local)
    if as_json:
        listed = [plain_data(check) for check in checks]
        output.write_json({"ok": code_of(checks) == DONE, "checks": listed})
    else:
        output.write_lines([line for check in checks for line in described(check)])
    return code_of(checks)


def _target(loaded: Loaded) -> tuple[Target | None, Check | None]:
    """The configured server, or the managed local one where it runs."""
    from pydantic import SecretStr

    from pgs_neo4j.doctor import Check, Target

    settings = loaded.settings
    if settings.neo4j_uri is not None:
        target = Target(
            uri=settings.neo4j_uri,
            user=settings.neo4j_user,
            password=settings.neo4j_password,
            database=settings.neo4j_database,
        )
        return target, None
    fix = "start it with 'pgs local start', or set PGS_NEO4J_URI to a server of yours"
    try:
        from pgs_neo4j.local import credentials, options
        from pgs_neo4j.local import server as local

        given = options.options_from_environment()
        status = local.status(given)
        password = credentials.read_password(options.paths_of(given))
    except LocalServerError as error:
        return None, Check("local server", "failed", str(error), fix)
    if not status.running or status.uri is None or password is None:
        return None, Check("local server", "warning", "it is not running", fix)
    line = Check("local server", "ok", f"runs as process {status.pid} at {status.uri}")
    return Target(uri=status.uri, password=SecretStr(password)), line


def code_of(checks: Sequence[Check]) -> int:
    """0 unless a check failed; then the code of what failed first."""
    failed = [check.name for check in checks if check.status == "failed"]
    if not failed:
        return DONE
    if failed[0] == "configuration":
        return USAGE
    return MODEL if failed[0] in MODEL_CHECKS else DATABASE


def described(check: Check) -> list[str]:
    """One line for a check, and one for its fix."""
    lines = [f"{MARKS[check.status]:<5}{check.name}: {one_line(check.detail)}"]
    return [*lines, f"     fix: {one_line(check.fix)}"] if check.fix else lines
