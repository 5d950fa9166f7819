"""The API for synchronous code: each call blocks until its work is done.

    from pgs_neo4j.sync import connect

    with connect(neo4j_uri="bolt://localhost:7687", neo4j_password="…") as pgs:
        answer = pgs.execute("What is missing?", graph="papers")

It has the methods and views of ``pgs_neo4j.PGS``, without ``await``. One thread with an event loop
does the work of all calls, even if they come from several threads at once. ``on_event`` is called
in that thread. An interrupt cancels the call that is waiting. The API works in a notebook, because
it does not use the notebook's event loop.
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
"""Package that defines the views. Attributes of other types are returned unchanged."""


def connect(
    *,
    sweep_llm: LLM | None = None,
    synthesis_llm: LLM | None = None,
    embedder: Embedder | EmbedderName | None = None,
    on_event: OnEvent = ignore,
    **settings: Unpack[SettingsOverrides],
) -> SyncPGS:
    """Connect as configured, until ``close()`` or the end of ``with``.

    Takes the arguments of ``PGS.connect``, and raises the same errors.
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
    """Wraps the engine or one of its views, and waits for the result of each coroutine."""

    def __init__(self, engine: OwnEngine, view: Any) -> None:
        self._engine, self._view = engine, view

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return _wrap_member(self._engine, getattr(self._view, name))

    def __dir__(self) -> list[str]:
        return [name for name in dir(self._view) if not name.startswith("_")]

    def __repr__(self) -> str:
        return f"sync {type(self._view).__name__}"

    def __call__(self, *args: Any, **options: Any) -> Any:
        """Call the view, and wait for its result."""
        return _wait_for_result(self._engine, self._view(*args, **options))


class SyncPGS(SyncView):
    """``PGS`` for synchronous code; ``connect`` opens it."""

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


def _wrap_member(engine: OwnEngine, member: Any) -> Any:
    """Wrap a method or view so that its calls wait for results; return values unchanged."""
    if inspect.ismethod(member):
        return _wrap_method(engine, member)
    if type(member).__module__.startswith(VIEWS):
        return SyncView(engine, member)
    return member


def _wrap_method(engine: OwnEngine, method: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(method)
    def wait(*args: Any, **options: Any) -> Any:
        return _wait_for_result(engine, method(*args, **options))

    return wait


def _wait_for_result(engine: OwnEngine, returned: Any) -> Any:
    return engine.run(returned) if inspect.iscoroutine(returned) else returned
