"""What the engine asks of a language model and of an embedder."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from pgs_neo4j.model import Completion, Effort, Prompt

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@runtime_checkable
class LLM(Protocol):
    """A reader: one prompt in, one Markdown text out, in one try.

    Every failure is a ModelError; one with ``retry`` is tried again by the engine. Optional
    attributes: ``pace`` (a ``llm.pace.Pace`` that models of one endpoint share), ``signature``
    (names what decides a reply beside the prompt; else the name does), and ``free`` (True: it
    runs here and costs nothing, so its replies are neither counted in money nor kept).
    """

    @property
    def name(self) -> str:
        """The model's name, for people and for the record of a run."""
        ...

    async def complete(
        self, prompt: Prompt, *, max_tokens: int, effort: Effort | None = None
    ) -> Completion:
        """The whole reply of at most ``max_tokens`` tokens; no effort means the model's own."""
        ...

    def stream(
        self, prompt: Prompt, *, max_tokens: int, effort: Effort | None = None
    ) -> AsyncGenerator[str | Completion, None]:
        """Pieces of text as they come, then exactly one Completion with all of it."""
        ...

    async def close(self) -> None:
        """Release connections; closing twice is harmless."""
        ...


@runtime_checkable
class Embedder(Protocol):
    """Turns texts into unit vectors of one length. Every failure is a ModelError."""

    @property
    def name(self) -> str:
        """Names the vector space: equal names mean comparable vectors."""
        ...

    @property
    def dimensions(self) -> int | None:
        """Length of a vector; None until the first reply where only the model knows."""
        ...

    @property
    def threshold(self) -> float | None:
        """Relevance threshold that fits this embedder's cosines; None: the configured one."""
        ...

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Rows in the order of ``texts``, shape (n, d), unit length; zero for empty text."""
        ...

    async def close(self) -> None:
        """Release connections and memory; closing twice is harmless."""
        ...
