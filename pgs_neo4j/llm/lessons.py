"""What the refusals of an endpoint have shown of a model, in words, each told once to a run.

All models of a process that ask for one model of an endpoint share it, so each refusal is paid for
once. It lives as long as one of them does.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol, TypeVar
from weakref import WeakValueDictionary


@dataclass(slots=True, eq=False)
class Lessons:
    """What is left out or moved from now on, because an endpoint refused it."""

    _known: list[str] = field(default_factory=list)
    _told: set[str] = field(default_factory=set)

    def add(self, lesson: str, *, instead_of: str = "") -> None:
        """Take in a lesson, unless it is known; calls in flight may bring the same one."""
        if instead_of in self._known:
            self._known.remove(instead_of)
        if lesson not in self._known:
            self._known.append(lesson)

    def forget(self) -> None:
        """Forget what is known. What was told is not told again, but to another run."""
        self._known.clear()

    def take(self, where: str, told: ToldLessons | None = None) -> tuple[str, ...]:
        """Return in sentences what a run was not told yet; ``where`` names the endpoint.

        Without a run, that is what nobody was told.
        """
        if told is None:
            new = [one for one in self._known if one not in self._told]
        else:
            new = [one for one in self._known if told.add(self, one)]
        self._told.update(new)
        return tuple(f"the model endpoint {where} {lesson}" for lesson in new)


@dataclass(slots=True)
class ToldLessons:
    """What one run was told, of whichever model; models that share lessons tell each once."""

    _told: set[tuple[Lessons, str]] = field(default_factory=set)

    def add(self, lessons: Lessons, lesson: str) -> bool:
        """Note that a lesson is told now; return whether it is new to the run."""
        new = (lessons, lesson) not in self._told
        self._told.add((lessons, lesson))
        return new


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
