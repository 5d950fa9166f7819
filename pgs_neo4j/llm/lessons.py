"""Keeps the lessons that a model's refusals have taught, and reports each lesson once to a run.

In one process, all objects that call the same model of an endpoint share its lessons, so each
refusal occurs only once. Lessons live as long as one of these objects.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol, TypeVar
from weakref import WeakValueDictionary


@dataclass(slots=True, eq=False)
class Lessons:
    """Sentences about changes to later requests that an endpoint's refusals have caused."""

    _known: list[str] = field(default_factory=list)
    _told: set[str] = field(default_factory=set)

    def add(self, lesson: str, *, instead_of: str = "") -> None:
        """Add a lesson, unless it is known: several calls in flight may teach the same lesson.

        It replaces the lesson ``instead_of``, if that is known.
        """
        if instead_of in self._known:
            self._known.remove(instead_of)
        if lesson not in self._known:
            self._known.append(lesson)

    def forget(self) -> None:
        """Forget all lessons. Lessons that are learned again are not reported to a run again."""
        self._known.clear()

    def take(self, where: str, told: ToldLessons | None = None) -> tuple[str, ...]:
        """Return a sentence for each lesson that is new to a run; ``where`` names the endpoint.

        ``told`` are the lessons that were reported to the run. Without ``told``, lessons that any
        caller has received before are left out.
        """
        if told is None:
            new = [one for one in self._known if one not in self._told]
        else:
            new = [one for one in self._known if told.add(self, one)]
        self._told.update(new)
        return tuple(f"the model endpoint {where} {lesson}" for lesson in new)


@dataclass(slots=True)
class ToldLessons:
    """The lessons of all models that were reported to one run."""

    _told: set[tuple[Lessons, str]] = field(default_factory=set)

    def add(self, lessons: Lessons, lesson: str) -> bool:
        """Record that a lesson is reported to the run; return whether it is new to the run."""
        new = (lessons, lesson) not in self._told
        self._told.add((lessons, lesson))
        return new


class Learned(Protocol):
    """Knowledge from a model's refusals, which another model of the same name may not share."""

    def forget(self) -> None:
        """Forget everything, as before the first call. No lesson is reported to a run twice."""
        ...


T = TypeVar("T", bound=Learned)

_SHARED: WeakValueDictionary[tuple[str, str, str], Learned] = WeakValueDictionary()


def share_learned(kind: type[T], account: str, model: str, create: Callable[[], T]) -> T:
    """Return the knowledge about a model that all its users in this process share.

    ``account`` is the endpoint with its key, ``model`` the name of the model there. ``create``
    makes an empty object for the first user.
    """
    key = (kind.__qualname__ + kind.__module__, account, model)
    known = _SHARED.get(key)
    if not isinstance(known, kind):
        known = create()
        _SHARED[key] = known
    return known
