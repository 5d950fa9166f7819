"""A model behind an endpoint that has to be asked which interface it has."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Protocol, runtime_checkable

from pgs_neo4j.llm.context import ModelContext
from pgs_neo4j.llm.lessons import ToldLessons
from pgs_neo4j.llm.openai.recognizing import AskedServer
from pgs_neo4j.llm.openai.replies import ProbeResult
from pgs_neo4j.llm.pace import Pace
from pgs_neo4j.llm.protocol import Preparing
from pgs_neo4j.llm.served_at import ServedAt
from pgs_neo4j.model import Completion, Effort, Prompt


@runtime_checkable
class Probed(Protocol):
    """A model whose endpoint can be asked for its list of models."""

    async def probe(self) -> ProbeResult:
        """Ask for the list of models, at no cost. Raises ModelError."""
        ...


class WireLLM(Protocol):
    """A model behind an endpoint, by one interface."""

    @property
    def name(self) -> str:
        """The model's name, for display, prices, and limits."""
        ...

    @property
    def signature(self) -> str:
        """Everything except the prompt that determines a reply."""
        ...

    @property
    def served_at(self) -> ServedAt:
        """The provider and the host that answer its calls."""
        ...

    @property
    def refuses_long_prompts(self) -> bool:
        """Whether a prompt that is too long is known to end in an error."""
        ...

    @property
    def larger_context(self) -> str:
        """What its server wants for a larger context; empty: unknown."""
        ...

    async def read_context(self) -> ModelContext | None:
        """Return what the server says of the context."""
        ...

    def take_lessons(self, told: ToldLessons | None = None) -> tuple[str, ...]:
        """Return what was learned from refusals and a run was not told yet."""
        ...

    def forget_lessons(self) -> None:
        """Forget what refusals have shown."""
        ...

    async def probe(self) -> ProbeResult:
        """Ask for the list of models, at no cost."""
        ...

    async def complete(
        self, prompt: Prompt, *, max_tokens: int, effort: Effort | None = None
    ) -> Completion:
        """Return the whole reply."""
        ...

    def stream(
        self, prompt: Prompt, *, max_tokens: int, effort: Effort | None = None
    ) -> AsyncGenerator[str | Completion, None]:
        """Yield pieces of text, then the whole."""
        ...

    async def close(self) -> None:
        """Release connections."""
        ...


class AskedLLM:
    """A model whose server is asked at the first use whether it is Ollama.

    Ollama is then used natively, since its other interface cuts prompts and says nothing. Anything
    else has OpenAI's interface.
    """

    def __init__(
        self, server: AskedServer, other: WireLLM, create_ollama: Callable[[], WireLLM]
    ) -> None:
        self._server = server
        self._wire, self._create_ollama = other, create_ollama
        self._former: WireLLM | None = None
        self._asked = False

    @property
    def name(self) -> str:
        """The model's name, for display, prices, and limits."""
        return self._wire.name

    @property
    def pace(self) -> Pace:
        """The endpoint's pace, shared by all its users in this process."""
        return self._server.endpoint.pace

    @property
    def served_at(self) -> ServedAt:
        """The provider and the host that answer its calls."""
        return self._wire.served_at

    @property
    def signature(self) -> str:
        """Everything except the prompt that determines a reply."""
        return self._wire.signature

    @property
    def refuses_long_prompts(self) -> bool:
        """Whether a prompt that is too long is known to end in an error."""
        return self._wire.refuses_long_prompts

    @property
    def larger_context(self) -> str:
        """What its server wants for a larger context; empty: unknown."""
        return self._wire.larger_context

    def __repr__(self) -> str:
        return repr(self._wire)

    async def read_context(self) -> ModelContext | None:
        """Return what the server says of the context. Raises nothing."""
        return await (await self._choose()).read_context()

    async def probe(self) -> ProbeResult:
        """Ask for the list of models, at no cost. Raises ModelError."""
        return await (await self._choose()).probe()

    async def complete(
        self, prompt: Prompt, *, max_tokens: int, effort: Effort | None = None
    ) -> Completion:
        """Return the whole reply, after a single try. Raises ModelError."""
        wire = await self._choose()
        return await wire.complete(prompt, max_tokens=max_tokens, effort=effort)

    async def stream(
        self, prompt: Prompt, *, max_tokens: int, effort: Effort | None = None
    ) -> AsyncGenerator[str | Completion, None]:
        """Yield pieces of text, then one Completion. Raises ModelError."""
        wire = await self._choose()
        async with aclosing(wire.stream(prompt, max_tokens=max_tokens, effort=effort)) as pieces:
            async for piece in pieces:
                yield piece

    async def prepare(self, prompt: Prompt, *, max_tokens: int) -> None:
        """Let a smaller call before this one load the model for both. Raises nothing."""
        wire = await self._choose()
        if isinstance(wire, Preparing):
            await wire.prepare(prompt, max_tokens=max_tokens)

    def take_lessons(self, told: ToldLessons | None = None) -> tuple[str, ...]:
        """Return in sentences what was learned from refusals and a run was not told yet."""
        return self._wire.take_lessons(told)

    def forget_lessons(self) -> None:
        """Forget what refusals have shown, because another model has this one's name now."""
        self._wire.forget_lessons()

    async def close(self) -> None:
        """Close the connections."""
        former, self._former = self._former, None
        if former is not None:
            await former.close()
        await self._wire.close()

    async def _choose(self) -> WireLLM:
        if not self._asked:
            found = await self._server.is_ollama()
            # Another call may have chosen by now. Nothing is awaited from here on, so that no two
            # calls open a client each. The former one may still be in use by calls that began
            # while nothing answered, so it is closed at the end.
            if found and not self._asked:
                self._former, self._wire = self._wire, self._create_ollama()
            self._asked = self._asked or found is not None
        return self._wire
