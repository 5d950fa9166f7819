"""Protocols that a language model, an embedder, and a relevance model must satisfy, or may."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from pgs_neo4j.llm.lessons import ToldLessons
from pgs_neo4j.llm.pace import Pace
from pgs_neo4j.model import Completion, Effort, Prompt, Usage

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from pgs_neo4j.llm.embedders.fitting import TextFit


@runtime_checkable
class LLM(Protocol):
    """A reader: one prompt in, one Markdown text out, in one try.

    Every failure is a ModelError; one with ``retry`` is tried again by the engine. A reader may
    also be ``Paced``, ``Signed``, ``Free``, or ``Adapting``; the engine requires none of these.
    """

    @property
    def name(self) -> str:
        """The model's name, for display and for the record of a run."""
        ...

    async def complete(
        self, prompt: Prompt, *, max_tokens: int, effort: Effort | None = None
    ) -> Completion:
        """Return the whole reply; ``effort`` defaults to the model's own."""
        ...

    def stream(
        self, prompt: Prompt, *, max_tokens: int, effort: Effort | None = None
    ) -> AsyncGenerator[str | Completion, None]:
        """Yield pieces of text as they arrive, then one Completion with everything."""
        ...

    async def close(self) -> None:
        """Release connections; closing twice is harmless."""
        ...


@runtime_checkable
class Paced(Protocol):
    """Shares the pace of its endpoint.

    Any other LLM has a separate pace.
    """

    @property
    def pace(self) -> Pace:
        """The pace that all models of one endpoint and key share."""
        ...


@runtime_checkable
class Signed(Protocol):
    """An LLM whose replies may be used again by other runs."""

    @property
    def signature(self) -> str:
        """Everything except the prompt that determines a reply."""
        ...


@runtime_checkable
class Free(Protocol):
    """Says whether it is free; any other LLM costs money."""

    @property
    def free(self) -> bool:
        """Whether it runs in this process at no cost.

        Its replies are then neither priced nor cached.
        """
        ...


@runtime_checkable
class Adapting(Protocol):
    """A model that sends otherwise what its endpoint has refused, or would cut."""

    def take_lessons(self, told: ToldLessons | None = None) -> tuple[str, ...]:
        """Return in sentences what was learned from refusals and a run was not told yet.

        ``told`` is what the run was told, and is added to. Without a run, it is what nobody was
        told.
        """
        ...


def take_lessons(model: object, told: ToldLessons | None = None) -> tuple[str, ...]:
    """Return what a model has learned and a run was not told yet; nothing if it does not adapt."""
    return model.take_lessons(told) if isinstance(model, Adapting) else ()


@runtime_checkable
class Relearning(Protocol):
    """An LLM that can forget what its endpoint has refused."""

    def forget_lessons(self) -> None:
        """Forget what refusals have shown, because another model has this one's name now."""
        ...


@runtime_checkable
class Preparing(Protocol):
    """An LLM whose server loads the model again for a larger prompt."""

    async def prepare(self, prompt: Prompt, *, max_tokens: int) -> None:
        """Let smaller calls before this one load the model for both. Raises nothing."""
        ...


OnTokens = Callable[[int], None]
"""Receives the number of tokens that a reply has so far, thinking included."""
_listener: ContextVar[OnTokens | None] = ContextVar("_listener", default=None)


@contextmanager
def heard_by(listener: OnTokens) -> Iterator[None]:
    """Report to ``listener`` how the replies grow that this task asks for in the block."""
    before = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(before)


def current_listener() -> OnTokens | None:
    """Return the listener of the replies that this task asks for; None without one."""
    return _listener.get()


class Named(Protocol):
    """A model whose calls have a price."""

    @property
    def name(self) -> str:
        """Its name in the table of prices."""
        ...


def shared_pace(llm: object) -> Pace | None:
    """Return the pace of a model's endpoint; None without one."""
    pace = llm.pace if isinstance(llm, Paced) else None
    return pace if isinstance(pace, Pace) else None


def reply_signature(llm: LLM) -> str:
    """Return everything except the prompt that determines an LLM's replies.

    That is its signature, else its name.
    """
    return llm.signature if isinstance(llm, Signed) else llm.name


def is_signed(llm: LLM) -> bool:
    """Return whether a model says what decides its replies.

    Replies of any other model are used within one run only, since its name says little: a class
    that is being written keeps its name while its replies change.
    """
    return isinstance(llm, Signed)


def is_free(llm: object) -> bool:
    """Return whether a model or embedder is free; False if it does not say."""
    return bool(llm.free) if isinstance(llm, Free) else False


@runtime_checkable
class Embedder(Protocol):
    """Turns texts into unit vectors of one length.

    Every failure is a ModelError. An embedder may also be ``Free``, ``Metered``, ``Paced``,
    ``Fitted``, ``Lexical``, or ``Adapting``.
    """

    @property
    def name(self) -> str:
        """The name of the vector space: equal names mean comparable vectors."""
        ...

    @property
    def dimensions(self) -> int | None:
        """The length of a vector.

        None before the first reply, if only the model knows it.
        """
        ...

    @property
    def threshold(self) -> float | None:
        """The relevance threshold for this embedder's cosines; None: the configured one."""
        ...

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return unit rows ``(n, d)`` in the order of ``texts``.

        Empty texts get zeros.
        """
        ...

    async def close(self) -> None:
        """Release connections and memory; closing twice is harmless."""
        ...


@dataclass(frozen=True, slots=True)
class EmbeddedTexts:
    """Unit vectors ``(n, d)`` of some texts, and what the call for them used."""

    vectors: NDArray[np.float32]
    usage: Usage


@runtime_checkable
class Metered(Protocol):
    """An embedder that counts what a call used, as one behind an endpoint does."""

    @property
    def model(self) -> str:
        """The model's name in the table of prices."""
        ...

    async def embed_once(self, texts: Sequence[str]) -> EmbeddedTexts:
        """Embed texts in one call and one try, whose errors are ModelErrors."""
        ...


@runtime_checkable
class Fitted(Protocol):
    """An embedder that remembers what its endpoint takes in a call and reads of a text."""

    @property
    def fit(self) -> TextFit:
        """What is known so far, for all who use the embedder."""
        ...

    @property
    def may_cut(self) -> bool:
        """Whether its server is not known to refuse a text that is too long.

        Others may embed the beginning of such a text and say nothing.
        """
        ...

    async def ask_limit(self) -> None:
        """Ask the server for its limit of a text, once. Raises nothing."""
        ...


@runtime_checkable
class Lexical(Protocol):
    """An embedder that knows words alone, and has a vector of zeros for a text without any."""

    @property
    def lexical(self) -> bool:
        """Whether it knows words alone."""
        ...


@runtime_checkable
class RelevanceModel(Protocol):
    """Orders texts by their relevance to a question.

    Every failure is a ModelError. A model may also be ``Adapting`` or ``Reserving``.
    """

    @property
    def name(self) -> str:
        """The name of the model for display."""
        ...

    async def rank(self, question: str, texts: Sequence[str]) -> list[int]:
        """Return the places of texts, most relevant first; some may be left out."""
        ...

    async def close(self) -> None:
        """Release connections; closing twice is harmless."""
        ...


class PaidCall(Protocol):
    """A call whose usage is noted when it is known."""

    usage: Usage | None


Reserve = Callable[[int], AbstractAsyncContextManager[PaidCall]]
"""Reserves so many tokens for a call, which may raise StoppedError, and records its usage."""


@dataclass(slots=True)
class _UncountedCall:
    usage: Usage | None = None


@asynccontextmanager
async def reserve_nothing(_: int) -> AsyncGenerator[PaidCall]:
    """Reserve nothing for a call, as outside of runs."""
    yield _UncountedCall()


@runtime_checkable
class Reserving(Protocol):
    """A relevance model whose calls can be made within the budget of a run."""

    async def rank_within(self, question: str, texts: Sequence[str], reserve: Reserve) -> list[int]:
        """Return what ``rank`` does, and reserve each call before it is sent."""
        ...
