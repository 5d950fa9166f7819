"""The API for code that is not asynchronous: each call returns when its work is done.

    from pgs_neo4j.sync import connect

    with connect(neo4j_uri="bolt://localhost:7687", neo4j_password="…") as pgs:
        answer = pgs.execute("What is missing?", graph="papers")

It has the methods and views of ``pgs_neo4j.PGS``, without ``await``. One thread with an event loop
does the work, also that of calls from several threads at once; ``on_event`` is called there. An
interrupt cancels the call that waits. It works in a notebook, whose own loop it leaves alone.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from functools import wraps
from types import TracebackType
from typing import Any, Unpack

from pgs_neo4j.adapters.engine_loop import OwnEngine
from pgs_neo4j.config import EmbedderName, SettingsOverrides
from pgs_neo4j.engine import PGS
from pgs_neo4j.events import OnEvent, ignore
from pgs_neo4j.llm.protocol import LLM, Embedder

VIEWS = "pgs_neo4j.engine."
"""Where the views are defined; what else the engine has is a value."""


def connect(
    *,
    sweep_llm: LLM | None = None,
    synthesis_llm: LLM | None = None,
    embedder: Embedder | EmbedderName | None = None,
    on_event: OnEvent = ignore,
    **settings: Unpack[SettingsOverrides],
) -> SyncPGS:
    """Connect as configured, until ``close()`` or the end of ``with``.

    Takes what ``PGS.connect`` takes, and raises what it raises.
    """
    return SyncPGS(
        PGS.connect(
            sweep_llm=sweep_llm,
            synthesis_llm=synthesis_llm,
            embedder=embedder,
            on_event=on_event,
            **settings,
        )
    )


def connect_without_models(
    *,
    embedder: Embedder | EmbedderName | None = None,
    on_event: OnEvent = ignore,
    **settings: Unpack[SettingsOverrides],
) -> SyncPGS:
    """Connect without models, as ``PGS.connect_without_models`` does."""
    return SyncPGS(PGS.connect_without_models(embedder=embedder, on_event=on_event, **settings))


class SyncView:
    """A view of the engine, or the engine itself, whose coroutines are waited for."""

    def __init__(self, engine: OwnEngine, view: Any) -> None:
        self._engine, self._view = engine, view

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return _waiting(self._engine, getattr(self._view, name))

    def __dir__(self) -> list[str]:
        return [name for name in dir(self._view) if not name.startswith("_")]

    def __repr__(self) -> str:
        return f"sync {type(self._view).__name__}"

    def __call__(self, *args: Any, **given: Any) -> Any:
        """Return what the view returns, as a list of what it lists."""
        return _result(self._engine, self._view(*args, **given))


class SyncPGS(SyncView):
    """``PGS`` for code that is not asynchronous; ``connect`` opens it."""

    def __init__(self, opening: AbstractAsyncContextManager[PGS]) -> None:
        engine = OwnEngine("pgs-sync", opening)
        super().__init__(engine, engine.pgs)

    def close(self) -> None:
        """Close the connection. Harmless to repeat."""
        self._engine.close()

    def __enter__(self) -> SyncPGS:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


def _waiting(engine: OwnEngine, found: Any) -> Any:
    """Return a method that waits for its result, a view of which all do, or a value."""
    if inspect.ismethod(found):
        return _waiting_method(engine, found)
    if type(found).__module__.startswith(VIEWS):
        return SyncView(engine, found)
    return found


def _waiting_method(engine: OwnEngine, method: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(method)
    def wait(*args: Any, **given: Any) -> Any:
        return _result(engine, method(*args, **given))

    return wait


def _result(engine: OwnEngine, returned: Any) -> Any:
    return engine.run(returned) if inspect.iscoroutine(returned) else returned
