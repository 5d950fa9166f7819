"""Open the engine for a command, find its graph, and ask for confirmation."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import (
    AbstractAsyncContextManager,
    AsyncExitStack,
    asynccontextmanager,
    nullcontext,
)
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pgs_neo4j.cli import logs, output, scope
from pgs_neo4j.cli.completion import refresh
from pgs_neo4j.errors import UsageError
from pgs_neo4j.events import Event, OnEvent, Warned, ignore
from pgs_neo4j.text.shown import one_line

if TYPE_CHECKING:
    from pgs_neo4j.engine import PGS


WAITING = "still waiting for the database"
WAIT_S = 4.0
# A schedule connects once per job, and must not repeat the same message each time.
_PRINTED_NOTES: set[str] = set()


@asynccontextmanager
async def engine(on_event: OnEvent = ignore, **settings: object) -> AsyncIterator[PGS]:
    """Open the engine as configured, except for ``settings`` that are not None."""
    from pgs_neo4j.engine import PGS

    async with _open(PGS.connect, on_event, settings) as pgs:
        yield pgs


@asynccontextmanager
async def database(on_event: OnEvent = ignore, **settings: object) -> AsyncIterator[PGS]:
    """Open the engine without models; no model key is required."""
    from pgs_neo4j.engine import PGS

    async with _open(PGS.connect_without_models, on_event, settings) as pgs:
        yield pgs


@asynccontextmanager
async def _open(
    connect: Callable[..., AbstractAsyncContextManager[PGS]],
    on_event: OnEvent,
    settings: dict[str, object],
) -> AsyncIterator[PGS]:
    """Open the engine, and refresh the names for shell completion after the command.

    Without a listener to show progress, prints a note if connecting takes long.
    """
    logs.apply_settings(settings)
    settings = {**settings, **scope.chosen()}
    warnings = _SettingsWarnings(on_event)
    connecting = connect(on_event=warnings, **settings)
    async with AsyncExitStack() as stack:
        with output.note_if_slow(WAITING, WAIT_S) if on_event is ignore else nullcontext():
            pgs = await stack.enter_async_context(connecting)
        warnings.connected = True
        yield pgs
        await refresh(pgs, local="neo4j_uri" in settings)


@dataclass(slots=True)
class _SettingsWarnings:
    """Forwards events, but prints each warning before the connection once, even with --quiet.

    Warnings that arrive before the connection is open are about the settings.
    """

    on_event: OnEvent
    connected: bool = False

    def __call__(self, event: Event) -> None:
        if self.connected or not isinstance(event, Warned):
            self.on_event(event)
        else:
            _note_once(event.message)


def require_graph_name(graph: str | None) -> str:
    """Return the name for a graph to be created: the given one, else the one in the settings.

    Raises UsageError if there is neither, and ConfigError for invalid settings.
    """
    from pgs_neo4j import config

    name = graph if graph is not None else config.load().settings.graph
    if name is None:
        raise UsageError("the graph has no name; add --graph NAME, or set PGS_GRAPH")
    return name


async def find_graph_name(pgs: PGS, graph: str | None) -> str:
    """Return the given name, else the name in the settings, else the name of the only graph.

    Raises UnknownGraphError if the graph must be looked up and cannot be found, and ConfigError for
    invalid settings.
    """
    return graph if graph is not None else (await pgs.graphs.get(None)).name


def say_unknown_variables() -> None:
    """Print a note on each unknown ``PGS_`` variable, for commands that open no connection."""
    from pgs_neo4j.config import unknown_variables

    for message in unknown_variables(os.environ):
        _note_once(message)


def _note_once(message: str) -> None:
    if message not in _PRINTED_NOTES:
        _PRINTED_NOTES.add(message)
        output.note(message)


def confirm(what: str, *, yes: bool) -> None:
    """Ask for confirmation on a terminal; elsewhere require ``--yes``. Raises UsageError."""
    if yes:
        return
    if not can_ask():
        raise UsageError(f"{what}; pass --yes to confirm it without a terminal")
    if not ask_to_continue(what):
        raise UsageError("not confirmed; nothing was changed")


def can_ask() -> bool:
    """Return whether a person can answer a prompt: stdin and stderr are both terminals."""
    return sys.stdin.isatty() and output.is_terminal(sys.stderr)


def ask_to_continue(what: str) -> bool:
    """Ask on the terminal whether to continue; any reply but ``y`` or ``yes`` means no."""
    sys.stderr.write(f"{one_line(what)}. Continue? [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")
