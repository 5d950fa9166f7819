"""How long the replies may be that are read now."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from pgs_neo4j.errors import ModelError, ModelOutputError


@dataclass(frozen=True, slots=True)
class Ceiling:
    """The most bytes that the body of a reply may have, and the error beyond it."""

    most_bytes: int
    error: ModelError


_CEILING: ContextVar[Ceiling | None] = ContextVar("ceiling", default=None)


def body_ceiling() -> Ceiling | None:
    """Return the ceiling of the bodies read now; None where none is set."""
    return _CEILING.get()


@contextmanager
def limited_body(most_bytes: int, where: str) -> Iterator[None]:
    """Limit the bodies of the requests made here, which go to ``where``."""
    error = ModelOutputError(
        f"the model endpoint {where} sent more than {most_bytes:,} bytes where the "
        "reply cannot be that long; use another model or endpoint"
    )
    token = _CEILING.set(Ceiling(most_bytes, error))
    try:
        yield
    finally:
        _CEILING.reset(token)
