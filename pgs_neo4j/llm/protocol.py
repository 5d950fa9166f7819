"""Declares the required and optional protocols of language models, embedders, and rerankers."""

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

    Every failure is a ModelError. If it has a ``retry``, the engine tries again. A reader may also
    be ``Paced``, ``Signed``, ``Free``, or ``Adapting``; the engine requires none of these.
    """

    @property
    def name(self) -> str:
        """The model's name, for display and for the record of a run."""
        ...

    async def complete(
        self, prompt: Prompt, *, max_tokens: int, effort: Effort | None = None
    ) -> Completion:
        """Return the whole reply; without ``effort``, the model uses its own default."""
        ...

    def stream(
        self, prompt: Prompt, *, max_tokens: int, effort: Effort | None = None
    ) -> AsyncGenerator[str | Completion, None]:
        """Yield pieces of text as they arrive, then one Completion with the whole text."""
        ...

    async def close(self) -> None:
        """Release connections; closing twice is harmless."""
        ...


@runtime_checkable
class Paced(Protocol):
    """A model that shares the pace of its endpoint. Any other model has a pace of its own."""

    @property
    def pace(self) -> Pace:
        """The pace that all models of one endpoint and key share."""
        ...


@runtime_checkable
class Signed(Protocol):
    """An LLM whose replies may be used again by other runs."""

    @property
    def signature(self) -> str:
        """Everything that determines a reply, except the prompt."""
        ...


@runtime_checkable
class Free(Protocol):
    """A model that states whether it is free. Any other model costs money."""

    @property
    def free(self) -> bool:
        """Whether the model runs in this process at no cost.

        The replies of a free model are neither priced nor cached.
        """
        ...


@runtime_checkable
class Adapting(Protocol):
    """A model that changes its requests if its endpoint has refused or would cut a request."""

    def take_lessons(self, told: ToldLessons | None = None) -> tuple[str, ...]:
        """Return one sentence for each lesson from refusals that a run has not reported yet.

        ``told`` are the lessons that the run has reported, and the returned lessons are added to
        it. Without ``told``, lessons that any caller has received before are left out.
        """
        ...


def take_lessons(model: object, told: ToldLessons | None = None) -> tuple[str, ...]:
    """Return the lessons of a model that a run has not reported yet; empty if it has none."""
    return model.take_lessons(told) if isinstance(model, Adapting) else ()


@runtime_checkable
class Relearning(Protocol):
    """An LLM that can forget what its endpoint has refused."""

    def forget_lessons(self) -> None:
        """Forget the lessons from refusals, because the name now belongs to another model."""
        ...


@runtime_checkable
class Preparing(Protocol):
    """An LLM whose server loads the model again for a larger prompt."""

    async def prepare(self, prompt: Prompt, *, max_tokens: int) -> None:
        """Make all later calls ask for a context that is large enough for this prompt.

        So smaller calls before it do not make the server load the model twice. Raises nothing.
        """
        ...


OnTokens = Callable[[int], None]
"""A function that receives the tokens of a reply so far, thinking included."""
_listener: ContextVar[OnTokens | None] = ContextVar("_listener", default=None)


@contextmanager
def heard_by(listener: OnTokens) -> Iterator[None]:
    """Report the growth of replies to ``listener``, for calls of this task in the block."""
    before = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(before)


def current_listener() -> OnTokens | None:
    """Return the listener for replies to calls of this task; None without one."""
    return _listener.get()


class Named(Protocol):
    """A model whose calls have a price."""

    @property
    def name(self) -> str:
        """The model's name in the table of prices."""
        ...


def shared_pace(llm: object) -> Pace | None:
    """Return the pace that a model shares with its endpoint; None if it shares none."""
    pace = llm.pace if isinstance(llm, Paced) else None
    return pace if isinstance(pace, Pace) else None


def reply_signature(llm: LLM) -> str:
    """Return everything that determines an LLM's replies, except the prompt.

    That is its signature or, without one, its name.
    """
    return llm.signature if isinstance(llm, Signed) else llm.name


def is_signed(llm: LLM) -> bool:
    """Return whether a model has a signature.

    Without one, its replies are used within one run only, because its name does not identify them:
    a class under development keeps its name while its replies change.
    """
    return isinstance(llm, Signed)


def is_free(llm: object) -> bool:
    """Return whether a model or embedder is free; False if it does not state that."""
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
        """The length of a vector; None before the first reply, if only that shows it."""
        ...

    @property
    def threshold(self) -> float | None:
        """The relevance threshold for this embedder's cosines; None for the configured one."""
        ...

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return unit rows ``(n, d)`` in the order of ``texts``, zero for empty texts."""
        ...

    async def close(self) -> None:
        """Release connections and memory; closing twice is harmless."""
        ...


@dataclass(frozen=True, slots=True)
class EmbeddedTexts:
    """The unit vectors ``(n, d)`` of some texts, and the usage of their call."""

    vectors: NDArray[np.float32]
    usage: Usage


@runtime_checkable
class Metered(Protocol):
    """An embedder that reports the usage of its calls, such as one behind an endpoint."""

    @property
    def model(self) -> str:
        """The model's name in the table of prices."""
        ...

    async def embed_once(self, texts: Sequence[str]) -> EmbeddedTexts:
        """Embed texts in one call and one try. Raises ModelError."""
        ...


@runtime_checkable
class Fitted(Protocol):
    """An embedder that remembers its endpoint's limits for calls and for texts."""

    @property
    def fit(self) -> TextFit:
        """The known limits of the endpoint, shared by all users of the embedder."""
        ...

    @property
    def may_cut(self) -> bool:
        """Whether the server may silently embed only the beginning of a text that is too long.

        It may, unless it is known to refuse a text that is too long.
        """
        ...

    async def ask_limit(self) -> None:
        """Ask the server for its limit for a text, once. Raises nothing."""
        ...


@runtime_checkable
class Lexical(Protocol):
    """An embedder that counts words, and returns zeros for a text without a known word."""

    @property
    def lexical(self) -> bool:
        """Whether the embedder counts words."""
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
    """A call whose usage is set as soon as it is known."""

    usage: Usage | None


Reserve = Callable[[int], AbstractAsyncContextManager[PaidCall]]
"""A function that reserves a number of tokens for a call, and then records its usage.

It may raise StoppedError.
"""


@dataclass(slots=True)
class _UncountedCall:
    usage: Usage | None = None


@asynccontextmanager
async def reserve_nothing(_: int) -> AsyncGenerator[PaidCall]:
    """Reserve nothing, for calls outside of runs."""
    yield _UncountedCall()


@runtime_checkable
class Reserving(Protocol):
    """A relevance model whose calls can be made within the budget of a run."""

    async def rank_within(self, question: str, texts: Sequence[str], reserve: Reserve) -> list[int]:
        """Rank texts like ``rank``, but reserve each call before it is sent."""
        ...
