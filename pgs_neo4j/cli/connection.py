"""Opens what a command needs: the whole engine, or the database without any model."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from pgs_neo4j.cli import output
from pgs_neo4j.errors import UsageError
from pgs_neo4j.events import OnEvent, ignore

if TYPE_CHECKING:
    from pgs_neo4j.engine import PGS


@asynccontextmanager
async def engine(on_event: OnEvent = ignore, **settings: Any) -> AsyncIterator[PGS]:
    """The engine as configured; ``settings`` that are not None override."""
    from pgs_neo4j.engine import PGS

    async with PGS.connect(on_event=on_event, **settings) as pgs:
        yield pgs


@asynccontextmanager
async def database(on_event: OnEvent = ignore, **settings: Any) -> AsyncIterator[PGS]:
    """The engine for commands that read no text: a missing model key is no obstacle to them."""
    from pgs_neo4j.engine import PGS

    async with PGS.connect_without_models(on_event=on_event, **settings) as pgs:
        yield pgs


def confirm(what: str, *, yes: bool) -> None:
    """Have it confirmed on a terminal; elsewhere only --yes does. Raises UsageError otherwise."""
    if yes:
        return
    if not (sys.stdin.isatty() and output.is_terminal(sys.stderr)):
        raise UsageError(f"{what}; say --yes to confirm it where nobody can be asked")
    sys.stderr.write(f"{what}. Go on? [y/N] ")
    sys.stderr.flush()
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise UsageError("nothing was changed, because it was not confirmed")
