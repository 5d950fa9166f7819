"""One line of an examination."""

from __future__ import annotations

from collections.abc import Awaitable
from dataclasses import dataclass
from typing import Literal

from pgs_neo4j.errors import ConfigError, PGSError

Status = Literal["ok", "warning", "failed", "skipped"]


@dataclass(frozen=True, slots=True)
class Check:
    """What was looked at, how it is, and, where it is not well, how to mend it."""

    name: str
    status: Status
    detail: str
    fix: str = ""


async def guarded(name: str, check: Awaitable[Check], fix: str) -> Check:
    """The check's own result, or a failed one in place of the error it raised."""
    try:
        return await check
    except PGSError as error:
        return Check(name, "failed", str(error), fix)


def skipped(names: tuple[str, ...], reason: str) -> tuple[Check, ...]:
    """Checks that cannot be made because an earlier one failed."""
    return tuple(Check(name, "skipped", reason) for name in names)


def unreadable(error: ConfigError) -> tuple[Check, ...]:
    """The examination of a configuration that could not be loaded."""
    fix = "correct the setting it names in pgs.toml or the environment"
    return (
        Check("configuration", "failed", str(error), fix),
        *skipped(("database", "model"), "the configuration cannot be read"),
    )
