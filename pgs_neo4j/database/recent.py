"""Keeps what was read from the database, where it can never change."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Recent(Generic[T]):
    """The ``most`` values that were used last, by key."""

    most: int
    values: dict[str, T] = field(default_factory=dict)

    def find(self, key: str) -> T | None:
        """Return a value; None if it is not kept."""
        value = self.values.pop(key, None)
        if value is not None:
            self.values[key] = value  # used last
        return value

    def keep(self, key: str, value: T) -> None:
        """Keep a value, and forget those that were used longest ago."""
        self.values.pop(key, None)
        self.values[key] = value
        for oldest in list(self.values)[: -self.most]:
            del self.values[oldest]
