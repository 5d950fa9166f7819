"""`pgs doctor`: checks of the setup, with a fix for each problem."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pgs_neo4j.cli import output
from pgs_neo4j.cli.options import JsonOption
from pgs_neo4j.cli.run import DATABASE, DONE, MODEL, USAGE, run
from pgs_neo4j.text.json_data import plain_data
from pgs_neo4j.text.shown import one_line

if TYPE_CHECKING:
    from pgs_neo4j.engine import Check

MARKS = {"ok": "ok", "warning": "warn", "failed": "FAIL", "skipped": "skip"}
MODEL_CHECKS = frozenset({"model", "sweep model", "synthesis model", "embedder"})


def doctor(as_json: JsonOption = False) -> None:
    """Check the setup and say how to fix it.

    Checks configuration, database, GDS, graphs, embeddings, and models.

    Exit codes: 0 nothing failed, 2 configuration, 5 database, 6 model.
    """
    run(_doctor(as_json=as_json))


async def _doctor(*, as_json: bool) -> int:
    from pgs_neo4j.engine import diagnose

    checks = await diagnose()
    if as_json:
        listed = [plain_data(check) for check in checks]
        output.write_json({"ok": code_of(checks) == DONE, "checks": listed})
    else:
        output.write_lines([line for check in checks for line in describe(check)])
    return code_of(checks)


def code_of(checks: Sequence[Check]) -> int:
    """Return the exit code of the first failed check; 0 without one."""
    failed = [check.name for check in checks if check.status == "failed"]
    if not failed:
        return DONE
    if failed[0] == "configuration":
        return USAGE
    return MODEL if failed[0] in MODEL_CHECKS else DATABASE


def describe(check: Check) -> list[str]:
    """Return a check in one line, and its fix in another."""
    lines = [f"{MARKS[check.status]:<5}{check.name}: {one_line(check.detail)}"]
    return [*lines, f"     fix: {one_line(check.fix)}"] if check.fix else lines
