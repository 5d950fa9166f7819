"""What the refusals of an endpoint have shown of a model, in words, each told once.

All models of a process that ask for one model of an endpoint share it, so each refusal is paid for
once. It lives as long as one of them does.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol, TypeVar
from weakref import WeakValueDictionary


@dataclass(slots=True)
class Lessons:
    """What is left out or moved from now on, because an endpoint refused it."""

    _known: set[str] = field(default_factory=set)
    _new: list[str] = field(default_factory=list)

    def add(self, lesson: str) -> None:
        """Take in a lesson, unless it is known; calls in flight may bring the same one."""
        if lesson not in self._known:
            self._known.add(lesson)
            self._new.append(lesson)

    def take(self, where: str) -> tuple[str, ...]:
        """Return in sentences what is new since the last time; ``where`` names the endpoint."""
        new, self._new = self._new, []
        return tuple(f"the model endpoint {where} {lesson}" for lesson in new)


class Learned(Protocol):
    """What refusals have shown of a model, which another one with its name may not share."""

    def forget(self) -> None:
        """Forget it, as if nothing had been asked. What was told once is not told again."""
        ...


T = TypeVar("T", bound=Learned)

_SHARED: WeakValueDictionary[tuple[str, str, str], Learned] = WeakValueDictionary()


def share_learned(kind: type[T], account: str, model: str, create: Callable[[], T]) -> T:
    """Return what is learned of a model by all who ask for it in this process.

    ``account`` is the endpoint with its key, ``model`` the name of the model there.
    """
    key = (kind.__qualname__ + kind.__module__, account, model)
    known = _SHARED.get(key)
    if not isinstance(known, kind):
        known = create()
        _SHARED[key] = known
    return known
