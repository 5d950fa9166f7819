"""Calls a model behind Anthropic's Messages API through the official client."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote

from pgs_neo4j.config.providers import PromptCache
from pgs_neo4j.llm.anthropic.client import (
    API_VERSION,
    PUBLIC_URL,
    SAMPLING_VERSION,
    client_failures,
    length_refusal,
    load_sdk,
    malformed,
    open_client,
    refusal_status,
    refusal_text,
    request_options,
    require_sdk,
    translate,
)
from pgs_neo4j.llm.anthropic.wire import (
    LONGEST_UNSTREAMED,
    CountedTokens,
    Dialect,
    Event,
    ModelDescription,
    Reply,
    ReportedTokens,
    price_tokens,
    sum_tokens,
)
from pgs_neo4j.llm.context import ModelContext
from pgs_neo4j.llm.lengths import LONGEST_CONTEXT
from pgs_neo4j.llm.lessons import ToldLessons, share_learned
from pgs_neo4j.llm.openai.chat import IDLE_TIMEOUT_S, PROBE_TIMEOUT_S
from pgs_neo4j.llm.openai.endpoint import Endpoint, timeout_error
from pgs_neo4j.llm.openai.limits import parse_rate_limits
from pgs_neo4j.llm.openai.replies import (
    End,
    ProbeResult,
    broken_reply,
    check_reply,
    classify_end,
    in_time,
    limited_body,
    lost_answer,
    overlong_answer,
    probe_result,
    signed_extra,
    stalled_answer,
)
from pgs_neo4j.llm.pace import Pace
from pgs_neo4j.llm.tracing import ServedAt
from pgs_neo4j.model import Completion, Effort, Left, Prompt
from pgs_neo4j.model.ceilings import MODEL_LIST_BYTES, reply_bytes, stream_bytes, text_bytes

if TYPE_CHECKING:
    import anthropic

MESSAGES = "/v1/messages"
MODELS = "/v1/models"
ASKING_S = 5.0

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _ReceivedReply:
    """The text of a reply, its end, and its counts."""

    text: str
    end: End
    reason: str | None
    counted: CountedTokens | None
    model: str | None


class AnthropicLLM:
    """A model behind Anthropic's Messages API.

    ``model`` is its name for display and prices, ``served_as`` its id at the endpoint, by default
    the same. ``caches`` selects the parts of a prompt that the provider caches. ``idle_timeout_s``
    limits the silence between two pieces of a streamed text. Before the first piece, a model may
    think until the endpoint's deadline. Raises ConfigError if the package ``anthropic`` is not
    installed.
    """

    def __init__(
        self,
        model: str,
        endpoint: Endpoint,
        *,
        served_as: str | None = None,
        caches: PromptCache = "instructions",
        temperature: float | None = None,
        extra_body: Mapping[str, Any] | None = None,
        idle_timeout_s: float = IDLE_TIMEOUT_S,
    ) -> None:
        require_sdk()
        self.name = model
        self._served_as = served_as or model
        # An endpoint without an address is OpenAI's, which must never get this key.
        self._endpoint = replace(endpoint, base_url=endpoint.base_url or PUBLIC_URL)
        self._temperature = temperature
        self._extra_body = dict(extra_body or {})
        self._idle_timeout_s = idle_timeout_s
        self._caches = caches
        self._dialect = share_learned(Dialect, self._endpoint.account, self._served_as, Dialect)
        self._client: anthropic.AsyncAnthropic | None = None

    @property
    def pace(self) -> Pace:
        """The endpoint's pace, shared by all its users in this process."""
        return self._endpoint.pace

    @property
    def served_at(self) -> ServedAt:
        """The provider and the host that answer this model's calls."""
        return self._endpoint.served_at("anthropic")

    @property
    def signature(self) -> str:
        """The endpoint, model, and parameters, which determine a reply together with the prompt."""
        parameters = f"{self._temperature}{signed_extra(self._extra_body)}"
        return f"{self._endpoint.cache_name} {self._served_as} {parameters}"

    def __repr__(self) -> str:
        return f"AnthropicLLM({self.name!r} at {self._endpoint.host!r})"

    async def complete(
        self, prompt: Prompt, *, max_tokens: int, effort: Effort | None = None
    ) -> Completion:
        """Return the whole reply, after a single try.

        Each error states whether another try may help. Raises ModelAuthError, ModelRateLimitError,
        ModelTimeoutError, ModelUnavailableError, and ModelOutputError for a refusal or a reply that
        is malformed or empty.
        """
        await self._load()
        streamed = max_tokens > LONGEST_UNSTREAMED
        send = self._send_streamed if streamed else self._send_whole
        most_bytes = stream_bytes(max_tokens) if streamed else reply_bytes(max_tokens)
        async with in_time(self._endpoint, self.name):
            with limited_body(most_bytes, self._host_and_model):
                written, left = await self._send(send, prompt, max_tokens, effort, stream=streamed)
        completion = self._make_completion(prompt, written)
        check_reply(self._endpoint, completion, None, written.end, self.name)
        if written.end == "broken":
            raise broken_reply(self._endpoint, completion, written.reason, self.name)
        return replace(completion, left=left)

    async def stream(
        self, prompt: Prompt, *, max_tokens: int, effort: Effort | None = None
    ) -> AsyncGenerator[str | Completion, None]:
        """Yield pieces of text, then one Completion.

        Raises the errors of ``complete``. Also raises ModelUnavailableError when the stream breaks
        off and ModelTimeoutError when it stalls; after its first piece, it cannot be retried.
        """
        await self._load()
        deadline = asyncio.get_running_loop().time() + self._endpoint.timeout_s
        async with in_time(self._endpoint, self.name):
            with limited_body(stream_bytes(max_tokens), self._host_and_model):
                reply, text = await self._send(
                    self._open_stream, prompt, max_tokens, effort, stream=True
                )
        try:
            while text is not None:
                yield text
                text = await self._next_text(reply, deadline)
        finally:
            await reply.close()
        written = reply.written
        completion = self._make_completion(prompt, written)
        check_reply(self._endpoint, completion, None, written.end, self.name)
        if written.end == "broken" and not completion.text.strip():
            raise broken_reply(self._endpoint, completion, written.reason, self.name)
        # The caller has shown the text, so a broken end only marks it as incomplete.
        yield completion

    async def read_context(self) -> ModelContext | None:
        """Ask the server for the model's context; None if it does not report one.

        Later calls follow what the server reports about thinking and the longest reply. Takes at
        most 5 s, and raises nothing.
        """
        await self._load()
        try:
            async with asyncio.timeout(ASKING_S):
                raw = await self._get(f"{MODELS}/{quote(self._served_as, safe='')}")
            description = ModelDescription.model_validate_json(raw)
        except TimeoutError:
            return None
        except client_failures():
            return None
        self._dialect.read(description)
        tokens = description.max_input_tokens
        if tokens is None or tokens > LONGEST_CONTEXT:
            return None
        return ModelContext(tokens, "server", refuses=self.refuses_long_prompts)

    @property
    def refuses_long_prompts(self) -> bool:
        """Whether the endpoint is known to refuse a prompt that is too long."""
        return self._endpoint.refuses

    def take_lessons(self, told: ToldLessons | None = None) -> tuple[str, ...]:
        """Return one sentence for each lesson from refusals that a run has not reported yet."""
        return self._dialect.lessons.take(self._host_and_model, told)

    def forget_lessons(self) -> None:
        """Forget the lessons from refusals, because the name now belongs to another model."""
        self._dialect.forget()

    async def probe(self) -> ProbeResult:
        """Ask the endpoint for its models, which costs nothing.

        Raises ModelAuthError if it refuses the key, and ModelUnavailableError if it refuses for
        another reason or cannot be reached within 10 s.
        """
        await self._load()
        probed = replace(self._endpoint, timeout_s=PROBE_TIMEOUT_S)
        try:
            # The client's own timeout restarts with every byte, so it cannot limit the whole call.
            async with asyncio.timeout(PROBE_TIMEOUT_S):
                models = await self._list_models(probed)
                # The list leaves out aliases, but the endpoint answers a request for one.
                if models and self._served_as not in models:
                    models += await self._list_models(probed, self._served_as)
        except TimeoutError:
            raise timeout_error(probed, self.name) from None
        return probe_result(self._endpoint, self._served_as, models)

    async def close(self) -> None:
        """Close the connections."""
        if self._client is not None:
            await self._client.close()
            self._client = None

    async def _load(self) -> None:
        """Load the client before a call's time begins."""
        if self._client is None:
            await load_sdk()

    def _open(self) -> anthropic.AsyncAnthropic:
        if self._client is None:
            self._client = open_client(self._endpoint)
        return self._client

    @property
    def _host_and_model(self) -> str:
        return f"{self._endpoint.host} (model {self.name})"

    async def _send(
        self,
        send: Callable[[dict[str, Any]], Awaitable[T]],
        prompt: Prompt,
        max_tokens: int,
        effort: Effort | None,
        *,
        stream: bool,
    ) -> T:
        """Send a request; send it again at once after a refusal that changes the dialect."""
        import anthropic

        while True:
            body = self._dialect.body(
                self._served_as,
                prompt,
                max_tokens=max_tokens,
                effort=effort,
                temperature=self._temperature,
                stream=stream,
                caches=self._caches,
            )
            try:
                return await send({**self._extra_body, **body})
            except client_failures() as error:
                if isinstance(error, anthropic.APIStatusError) and self._learn(body, error):
                    continue
                raise translate(error, self._endpoint, self.name) from None

    def _learn(self, body: dict[str, Any], error: anthropic.APIStatusError) -> bool:
        """Learn from a refusal; return whether a changed request is worth sending."""
        if refusal_status(error) not in (400, 422) or length_refusal(error):
            return False
        return self._dialect.learn(body, refusal_text(error))

    def _options(self, body: dict[str, Any]) -> anthropic.RequestOptions:
        version = SAMPLING_VERSION if "temperature" in body else API_VERSION
        return request_options(self._endpoint, version=version)

    async def _send_whole(self, body: dict[str, Any]) -> tuple[_ReceivedReply, Left | None]:
        import anthropic
        import httpx2

        raw = await self._open().post(
            MESSAGES, body=body, cast_to=httpx2.Response, options=self._options(body)
        )
        reply = Reply.model_validate_json(raw.content)
        if reply.error is not None:
            raise anthropic.APIStatusError("", response=raw, body={"error": reply.error})
        if reply.content is None:
            raise malformed(self._endpoint, self.name)
        written = _ReceivedReply(
            "".join(block.shown for block in reply.content),
            classify_end(reply.stop_reason, delivered=True),
            reply.stop_reason,
            sum_tokens(reply.usage, ended=True),
            reply.model,
        )
        return written, parse_rate_limits(raw.headers)

    async def _send_streamed(self, body: dict[str, Any]) -> tuple[_ReceivedReply, Left | None]:
        """Stream a reply that would take too long on an idle connection; return the whole reply."""
        reply, text = await self._open_stream(body)
        try:
            while text is not None:
                text = await reply.next_text()
        finally:
            await reply.close()
        return reply.written, parse_rate_limits(reply.headers)

    async def _open_stream(self, body: dict[str, Any]) -> tuple[MessageStream, str | None]:
        """Return an open reply and its first text, or None if the reply has no text."""
        import anthropic

        async with AsyncExitStack() as stack:
            events = await self._open().post(
                MESSAGES,
                body=body,
                cast_to=object,
                options=self._options(body),
                stream=True,
                stream_cls=anthropic.AsyncStream[object],
            )
            reply = MessageStream(events, self._host_and_model, body["max_tokens"])
            stack.push_async_callback(reply.close)
            text = await reply.next_text()
            if text is None and not reply.started:
                raise malformed(self._endpoint, self.name)
            stack.pop_all()
            return reply, text

    async def _next_text(self, reply: MessageStream, deadline: float) -> str | None:
        """Return the next piece of text; None at the end.

        Raises ModelTimeoutError after too long a silence or at the deadline, and
        ModelUnavailableError if the stream breaks off.
        """
        now = asyncio.get_running_loop().time()
        try:
            async with asyncio.timeout_at(min(deadline, now + self._idle_timeout_s)):
                return await reply.next_text()
        except TimeoutError:
            raise stalled_answer(self._endpoint, self.name, len(reply.text)) from None
        except client_failures():
            raise lost_answer(self._endpoint, self.name, len(reply.text)) from None

    async def _get(self, path: str, timeout_s: float | None = None) -> bytes:
        import httpx2

        with limited_body(MODEL_LIST_BYTES, self._host_and_model):
            options = request_options(self._endpoint, timeout_s=timeout_s)
            raw = await self._open().get(path, cast_to=httpx2.Response, options=options)
            return raw.content

    async def _list_models(self, probed: Endpoint, model: str | None = None) -> tuple[str, ...]:
        """Return the ids that the endpoint lists; with ``model``, only ``model`` if it exists."""
        import anthropic

        path = f"{MODELS}/{quote(model, safe='')}" if model else f"{MODELS}?limit=1000"
        try:
            listed = json.loads(await self._get(path, PROBE_TIMEOUT_S))
        except client_failures() as error:
            if isinstance(error, anthropic.NotFoundError):
                return ()
            raise translate(error, probed, self.name) from None
        if model:
            return (model,)
        entries = listed.get("data") if isinstance(listed, dict) else None
        found = [e.get("id") for e in entries or () if isinstance(e, dict)]
        return tuple(name for name in found if isinstance(name, str))

    def _make_completion(self, prompt: Prompt, written: _ReceivedReply) -> Completion:
        priced = price_tokens(prompt, written.text, written.counted)
        return Completion(
            text=written.text,
            usage=priced.usage,
            model=written.model or self.name,
            truncated=written.end in ("cut", "broken"),
            doubted=priced.doubted,
            counted=written.counted.input if written.counted else None,
        )


class MessageStream:
    """Reads a reply from the client's stream of events.

    ``room`` is the maximum number of tokens of the reply. The client's errors are not translated.
    """

    def __init__(self, events: anthropic.AsyncStream[object], where: str, room: int) -> None:
        self._events = events
        self._host_and_model, self._room = where, room
        self._parts: list[str] = []
        self._left = text_bytes(room)
        self._counts: dict[str, int] = {}
        self._reason: str | None = None
        self._model: str | None = None
        self._delivered = False
        self.started = False

    @property
    def text(self) -> str:
        """The text received so far."""
        return "".join(self._parts)

    @property
    def headers(self) -> dict[str, str]:
        """The headers of the reply, with names in lower case."""
        return dict(self._events.response.headers)

    @property
    def written(self) -> _ReceivedReply:
        """The reply so far, which counts as broken until its last event arrives."""
        end = classify_end(self._reason, delivered=self._delivered)
        counts = ReportedTokens.model_validate(self._counts)
        return _ReceivedReply(
            self.text,
            "broken" if end == "whole" and not self._delivered else end,
            self._reason,
            sum_tokens(counts, ended=self._delivered),
            self._model,
        )

    async def next_text(self) -> str | None:
        """Return the next non-empty piece; None at the end.

        Raises ValueError (pydantic or JSON) if an event breaks the interface, and ModelOutputError
        if the text is far longer than its room.
        """
        while not self._delivered and (raw := await anext(self._events, None)) is not None:
            text = self._take(Event.model_validate(raw))
            if text:
                self._parts.append(text)
                return text
        return None

    async def close(self) -> None:
        """Return the connection to the pool, or drop it if the reply was not read to its end."""
        await self._events.close()

    def _take(self, event: Event) -> str:
        """Process an event; return the text that it adds.

        Raises ModelOutputError if the text is far longer than its room.
        """
        self.started |= event.type == "message_start"
        self._delivered = event.type == "message_stop"
        for usage in (event.message and event.message.usage, event.usage):
            if usage is not None:
                self._counts |= usage.model_dump(exclude_none=True)
        if event.message is not None:
            self._model = event.message.model or self._model
        if event.delta is not None:
            self._reason = event.delta.stop_reason or self._reason
        text = "".join(block.shown for block in (event.content_block, event.delta) if block)
        self._left -= len(text)
        if self._left < 0:
            raise overlong_answer(self._host_and_model, self._room)
        return text
