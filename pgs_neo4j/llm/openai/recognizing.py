"""Asks a server whether it is Ollama, and calls its model through the matching interface.

Other kinds of servers are recognized by their lists of models (see ``served``).
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Literal, Protocol, runtime_checkable

from pgs_neo4j.llm.context import ModelContext
from pgs_neo4j.llm.lessons import ToldLessons
from pgs_neo4j.llm.openai.endpoint import Endpoint
from pgs_neo4j.llm.openai.replies import ProbeResult, limited_body
from pgs_neo4j.llm.openai.served import root_of
from pgs_neo4j.llm.pace import Pace
from pgs_neo4j.llm.protocol import Preparing
from pgs_neo4j.llm.tracing import ServedAt
from pgs_neo4j.model import Completion, Effort, Prompt
from pgs_neo4j.model.ceilings import MODEL_LIST_BYTES

ASKING_S = 3.0

SILENCE_S = 60.0
"""Seconds before a silent server is asked again, because each question delays calls."""

TRANSIENT = (408, 425, 429)
"""Statuses below 500 that a server sends if it cannot answer at the moment."""

Kind = Literal["ollama", "other", "busy", "silent"]
"""``busy``: the server answers with a temporary error, such as 503 while it starts."""


@dataclass(slots=True)
class AskedServer:
    """A server that is asked once, for all of its models, whether it is Ollama.

    A server that does not answer is asked again after ``silence_s``, a busy one by the next call.
    """

    endpoint: Endpoint
    silence_s: float = SILENCE_S
    _found: bool | None = None
    _silent_until: float = 0.0
    _asking: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def is_ollama(self) -> bool | None:
        """Return whether the server is Ollama; None while that is unknown. Raises nothing."""
        # All calls wait for one question instead of asking the server at once.
        async with self._asking:
            loop = asyncio.get_running_loop()
            if self._found is None and loop.time() >= self._silent_until:
                match await ask_kind(self.endpoint):
                    case "silent":
                        self._silent_until = loop.time() + self.silence_s
                    case "busy":
                        pass
                    case kind:
                        self._found = kind == "ollama"
            return self._found


async def ask_kind(endpoint: Endpoint) -> Kind:
    """Ask which kind of server answers at an address. Takes at most 3 s, and raises nothing."""
    import httpx2
    import openai

    client = endpoint.open()
    try:
        async with asyncio.timeout(ASKING_S):
            with limited_body(MODEL_LIST_BYTES, endpoint.host):
                url = f"{root_of(endpoint.url)}/api/version"
                raw = await client.get(url, cast_to=httpx2.Response)
        reply = json.loads(raw.content)
    except (TimeoutError, openai.APIConnectionError):
        return "silent"
    except openai.APIStatusError as error:
        return "busy" if error.status_code >= 500 or error.status_code in TRANSIENT else "other"
    except (openai.OpenAIError, httpx2.HTTPError, ValueError, RecursionError):
        return "other"
    finally:
        await client.close()
    # Open WebUI has the same path, but its reply has further fields.
    alone = isinstance(reply, dict) and set(reply) == {"version"}
    return "ollama" if alone and isinstance(reply["version"], str) else "other"


@runtime_checkable
class Probed(Protocol):
    """A model whose endpoint can be asked for its list of models."""

    async def probe(self) -> ProbeResult:
        """Ask for the list of models, at no cost. Raises ModelError."""
        ...


class WireLLM(Protocol):
    """A model behind an endpoint, called through one interface."""

    @property
    def name(self) -> str:
        """The model's name, for display, prices, and limits."""
        ...

    @property
    def signature(self) -> str:
        """Everything that determines a reply, except the prompt."""
        ...

    @property
    def served_at(self) -> ServedAt:
        """The provider and the host that answer this model's calls."""
        ...

    @property
    def refuses_long_prompts(self) -> bool:
        """Whether the endpoint is known to refuse a prompt that is too long."""
        ...

    @property
    def larger_context(self) -> str:
        """The advice for a larger context at the model's server; empty if unknown."""
        ...

    async def read_context(self) -> ModelContext | None:
        """Ask the server for the model's context."""
        ...

    def take_lessons(self, told: ToldLessons | None = None) -> tuple[str, ...]:
        """Return the lessons from refusals that a run has not reported yet."""
        ...

    def forget_lessons(self) -> None:
        """Forget the lessons from refusals."""
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
        """Yield pieces of text, then the whole reply."""
        ...

    async def close(self) -> None:
        """Release connections."""
        ...


class AskedLLM:
    """A model whose server is asked at the first use whether it is Ollama.

    If so, the native interface is used, because Ollama's other interface silently cuts prompts. Any
    other server is called through OpenAI's interface.
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
        """The provider and the host that answer this model's calls."""
        return self._wire.served_at

    @property
    def signature(self) -> str:
        """Everything that determines a reply, except the prompt."""
        return self._wire.signature

    @property
    def refuses_long_prompts(self) -> bool:
        """Whether the endpoint is known to refuse a prompt that is too long."""
        return self._wire.refuses_long_prompts

    @property
    def larger_context(self) -> str:
        """The advice for a larger context at the model's server; empty if unknown."""
        return self._wire.larger_context

    def __repr__(self) -> str:
        return repr(self._wire)

    async def read_context(self) -> ModelContext | None:
        """Ask the server for the model's context. Raises nothing."""
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
        """Make all later calls ask for a context that is large enough for this prompt.

        So smaller calls before it do not make the server load the model twice. Raises nothing.
        """
        wire = await self._choose()
        if isinstance(wire, Preparing):
            await wire.prepare(prompt, max_tokens=max_tokens)

    def take_lessons(self, told: ToldLessons | None = None) -> tuple[str, ...]:
        """Return one sentence for each lesson from refusals that a run has not reported yet."""
        return self._wire.take_lessons(told)

    def forget_lessons(self) -> None:
        """Forget the lessons from refusals, because the name now belongs to another model."""
        self._wire.forget_lessons()

    async def close(self) -> None:
        """Close the connections."""
        former, self._former = self._former, None
        if former is not None:
            await former.close()
        await self._wire.close()

    async def _choose(self) -> WireLLM:
        """Return the model with the interface of its server, which is asked until it answers."""
        if not self._asked:
            found = await self._server.is_ollama()
            # Another call may have chosen by now. From here on nothing is awaited, so two calls
            # cannot both open a client. Calls that began while the server was silent may still use
            # the former client, so ``close`` closes it.
            if found and not self._asked:
                self._former, self._wire = self._wire, self._create_ollama()
            self._asked = self._asked or found is not None
        return self._wire
