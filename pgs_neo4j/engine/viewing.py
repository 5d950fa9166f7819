"""Decorators that run a method of the engine's views on the core that the restriction allows."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import replace
from functools import wraps
from inspect import signature
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar, cast

from pgs_neo4j.engine.core import Core

P = ParamSpec("P")
T = TypeVar("T")


class Viewing(Protocol):
    """A part of the engine, such as ``pgs.browse``: a dataclass with a core."""

    @property
    def _core(self) -> Core: ...


V = TypeVar("V", bound=Viewing)
Method = Callable[Concatenate[V, P], Coroutine[Any, Any, T]]


def of_graph(method: Method[V, P, T]) -> Method[V, P, T]:
    """Run a method on the core that sees the graph of its argument ``graph``."""
    return _on_core(method, "graph", Core.opened)


def of_run(method: Method[V, P, T]) -> Method[V, P, T]:
    """Run a method on the core that sees the graph of its argument ``run``."""
    return _on_core(method, "run", Core.opened_for_run)


def _on_core(
    method: Method[V, P, T], argument: str, find: Callable[[Core, Any], Awaitable[Core]]
) -> Method[V, P, T]:
    parameters = signature(method)

    @wraps(method)
    async def run(self: V, *args: P.args, **kwargs: P.kwargs) -> T:
        if not self._core.restriction:
            return await method(self, *args, **kwargs)
        given = parameters.bind(self, *args, **kwargs).arguments
        core = await find(self._core, given.get(argument))
        return await method(replace(self, _core=core), *args, **kwargs)  # type: ignore[type-var]

    return cast(Method[V, P, T], run)
