"""`pgs doctor`: check the setup, and name a fix for each problem."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from pgs_neo4j.cli import output
from pgs_neo4j.cli.options import JsonOption
from pgs_neo4j.cli.run import DATABASE, DONE, MODEL, USAGE, run
from pgs_neo4j.text.json_data import plain_data
from pgs_neo4j.text.shown import counted, one_line

if TYPE_CHECKING:
    from pgs_neo4j.engine import Check

MARKS = {"ok": "ok", "warning": "warn", "failed": "FAIL", "skipped": "skip"}
MODEL_CHECKS = ("model", "model call", "embedder")
"""Endings of the names of checks that concern a model."""


def doctor(
    call: Annotated[
        bool, typer.Option("--call", help="Also call each model once, and say what comes back.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Check the setup and say how to fix it.

    Checks configuration, database, GDS, graphs, embeddings, and models. Models are asked for
    their names alone. With --call, each is asked for the report of two short nodes, at its usual
    price and within max_cost and the other limits: does it answer, how fast, and is its reply a
    report?

    Exit codes: 0 nothing failed, 2 configuration, 5 database, 6 model.
    """
    run(_doctor(call=call, as_json=as_json))


async def _doctor(*, call: bool, as_json: bool) -> int:
    from pgs_neo4j.engine import diagnose

    checks = await diagnose(call=call)
    if as_json:
        listed = [plain_data(check) for check in checks]
        output.write_json({"ok": code_of(checks) == DONE, "checks": listed})
    else:
        output.write_lines([line for check in checks for line in describe(check)])
        output.write_lines(["", output.colored(*verdict(checks))])
    return code_of(checks)


def code_of(checks: Sequence[Check]) -> int:
    """Return the exit code of the first failed check; 0 if none failed."""
    failed = [check.name for check in checks if check.status == "failed"]
    if not failed:
        return DONE
    if failed[0] == "configuration":
        return USAGE
    return MODEL if failed[0].endswith(MODEL_CHECKS) else DATABASE


def verdict(checks: Sequence[Check]) -> tuple[str, str]:
    """Return the result of all checks in one line, and its style."""
    failed = sum(check.status == "failed" for check in checks)
    warned = sum(check.status == "warning" for check in checks)
    warnings = f" and {counted(warned, 'warning')}" if warned else ""
    if failed:
        return f"{counted(failed, 'check')} failed{warnings}; each says how to fix it.", "failed"
    if warned:
        return f"Ready, with {counted(warned, 'warning')}.", "warn"
    return "Ready: everything works.", "ok"


def describe(check: Check) -> list[str]:
    """Return one line for a check, and a second line with its fix if it has one."""
    mark = output.colored(f"{MARKS[check.status]:<5}", check.status)
    lines = [f"{mark}{one_line(check.name)}: {one_line(check.detail)}"]
    return [*lines, f"     fix: {one_line(check.fix)}"] if check.fix else lines
