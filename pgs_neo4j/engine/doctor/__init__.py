"""Examines a setup from configuration to model, and suggests fixes.

``examination`` calls the other modules in order, and each module examines one part. This module
defines what they share: a check, which is one line of the result.
"""

from __future__ import annotations

from collections.abc import Awaitable
from dataclasses import dataclass
from typing import Literal

from pgs_neo4j.errors import ConfigError, PGSError

Status = Literal["ok", "warning", "failed", "skipped"]


@dataclass(frozen=True, slots=True)
class Check:
    """Name, status, and result of a check, with a fix if needed."""

    name: str
    status: Status
    detail: str
    fix: str = ""


async def run_check(name: str, check: Awaitable[Check], fix: str) -> Check:
    """Await a check, and return it; a PGSError becomes a failed check with this ``fix``."""
    try:
        return await check
    except PGSError as error:
        return Check(name, "failed", str(error), fix)


def skip_checks(names: tuple[str, ...], reason: str) -> tuple[Check, ...]:
    """Return skipped checks, which are impossible because an earlier check failed."""
    return tuple(Check(name, "skipped", reason) for name in names)


def report_unreadable(error: ConfigError) -> tuple[Check, ...]:
    """Return the checks for a configuration that could not be loaded."""
    fix = "correct this setting in pgs.toml or in the environment"
    return (
        Check("configuration", "failed", str(error), fix),
        *skip_checks(("database", "model"), "the configuration could not be loaded"),
    )
