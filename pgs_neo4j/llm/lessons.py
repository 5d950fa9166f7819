"""What the refusals of an endpoint have shown of a model, in words, each told once."""

from __future__ import annotations

from dataclasses import dataclass, field


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
