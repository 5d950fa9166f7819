"""What the engine asks of a language model and of an embedder."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from pgs_neo4j.llm.pace import Pace
from pgs_neo4j.model import Completion, Effort, Prompt

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@runtime_checkable
class LLM(Protocol):
    """A reader: one prompt in, one Markdown text out, in one try.

    Every failure is a ModelError; one with ``retry`` is tried again by the engine. A reader may
    also be ``Paced``, ``Signed``, or ``Free``; the engine does without.
    """

    @property
    def name(self) -> str:
        """The model's name, for people and for the record of a run."""
        ...

    async def complete(
        self, prompt: Prompt, *, max_tokens: int, effort: Effort | None = None
    ) -> Completion:
        """Return the whole reply; without ``effort``, the model's own default."""
        ...

    def stream(
        self, prompt: Prompt, *, max_tokens: int, effort: Effort | None = None
    ) -> AsyncGenerator[str | Completion, None]:
        """Yield pieces of text as they arrive, then one Completion with all."""
        ...

    async def close(self) -> None:
        """Release connections; closing twice is harmless."""
        ...


@runtime_checkable
class Paced(Protocol):
    """Shares the pace of its endpoint; any other LLM has a pace of its own."""

    @property
    def pace(self) -> Pace:
        """The pace that all models of one endpoint and key share."""
        ...


@runtime_checkable
class Signed(Protocol):
    """Has replies that depend on more than its name and the prompt."""

    @property
    def signature(self) -> str:
        """Names everything beside the prompt that decides a reply."""
        ...


@runtime_checkable
class Free(Protocol):
    """Says whether it costs nothing; any other LLM costs money."""

    @property
    def free(self) -> bool:
        """Whether it runs here for nothing: replies are neither priced nor cached."""
        ...


def shared_pace(llm: LLM) -> Pace | None:
    """Return the pace of an LLM's endpoint; None for an LLM without one."""
    pace = llm.pace if isinstance(llm, Paced) else None
    return pace if isinstance(pace, Pace) else None


def reply_signature(llm: LLM) -> str:
    """Return what decides an LLM's replies beside the prompt: its signature, else its name."""
    return llm.signature if isinstance(llm, Signed) else llm.name


def is_free(llm: LLM) -> bool:
    """Whether an LLM costs nothing; False for an LLM that does not say."""
    return bool(llm.free) if isinstance(llm, Free) else False


@runtime_checkable
class Embedder(Protocol):
    """Turns texts into unit vectors of one length. Every failure is a ModelError."""

    @property
    def name(self) -> str:
        """Names the vector space: equal names mean comparable vectors."""
        ...

    @property
    def dimensions(self) -> int | None:
        """The length of a vector; None before a reply if only the model knows."""
        ...

    @property
    def threshold(self) -> float | None:
        """Relevance threshold that fits this embedder's cosines; None: the configured one."""
        ...

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return unit rows ``(n, d)`` in the order of ``texts``; zero for empty text."""
        ...

    async def close(self) -> None:
        """Release connections and memory; closing twice is harmless."""
        ...
