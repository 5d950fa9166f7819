"""Calls a model behind any OpenAI-compatible chat-completions endpoint."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from pgs_neo4j.config.providers import PromptCache
from pgs_neo4j.llm.context import ModelContext
from pgs_neo4j.llm.lessons import ToldLessons, share_learned
from pgs_neo4j.llm.openai.body import ends_with_done
from pgs_neo4j.llm.openai.body_errors import parse_error, status_error
from pgs_neo4j.llm.openai.endpoint import (
    Endpoint,
    malformed,
    ran_out,
    timeout_error,
    translate,
)
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
    make_completion,
    overlong_answer,
    probe_result,
    signed_extra,
    stalled_answer,
    thoughtful_answer,
)
from pgs_neo4j.llm.openai.served import PLACES, ServedModel, read_served_model
from pgs_neo4j.llm.openai.usage import ReplyUsage
from pgs_neo4j.llm.openai.wire import (
    LIMITS,
    OPTIONAL,
    DeltaChoice,
    Dialect,
    Message,
    MessageChoice,
    Reply,
    StreamedPiece,
    may_be_a_parameter,
)
from pgs_neo4j.llm.pace import Pace
from pgs_neo4j.llm.tracing import ServedAt
from pgs_neo4j.model import Completion, Effort, Left, Prompt
from pgs_neo4j.model.ceilings import MODEL_LIST_BYTES, reply_bytes, stream_bytes, text_bytes

if TYPE_CHECKING:
    import openai
    from openai.types.chat import ChatCompletionChunk

IDLE_TIMEOUT_S = 60.0
T = TypeVar("T")
PROBE_TIMEOUT_S = 10.0
# Every model can write this many tokens, so a refusal of a shorter reply has another reason.
SHORT_REPLY = 1_024
_WITHOUT_TEXT = Reply(choices=[MessageChoice(finish_reason="length")])


class OpenAILLM:
    """A model behind an OpenAI-compatible endpoint.

    ``served_as`` is the model's name at the endpoint, by default ``model``. ``idle_timeout_s``
    limits the silence between two pieces of a streamed text. Before the first piece, a reasoning
    model may think until the endpoint's deadline. ``caches`` selects the parts of a prompt that
    are marked for the provider's cache, if the provider needs marks.
    """

    def __init__(
        self,
        model: str,
        endpoint: Endpoint,
        *,
        served_as: str | None = None,
        temperature: float | None = None,
        extra_body: Mapping[str, Any] | None = None,
        idle_timeout_s: float = IDLE_TIMEOUT_S,
        caches: PromptCache = "instructions",
    ) -> None:
        self.name = model
        self._served_as = served_as or model
        self._endpoint = endpoint
        self._temperature = temperature
        self._extra_body = dict(extra_body or {})
        self._idle_timeout_s = idle_timeout_s
        # Ollama and others know only max_tokens and silently ignore the newer name. OpenAI's
        # reasoning models refuse the older name, so a refusal can correct a wrong guess.
        preset = endpoint.preset
        limit = "max_completion_tokens" if preset and preset.renamed_limit else "max_tokens"
        marked = preset is not None and self._served_as.startswith(preset.marks_blocks_of)
        self._caches = caches if marked else None
        self._dialect = share_learned(
            Dialect,
            f"{endpoint.account} {endpoint.recognized or endpoint.provider}",
            self._served_as,
            partial(Dialect, limit, extra=preset.extra if preset else {}),
        )
        self._served_model = ServedModel()
        self._client: openai.AsyncOpenAI | None = None

    @property
    def pace(self) -> Pace:
        """The endpoint's pace, shared by all its users in this process."""
        return self._endpoint.pace

    @property
    def served_at(self) -> ServedAt:
        """The provider and the host that answer this model's calls."""
        return self._endpoint.served_at("openai")

    @property
    def signature(self) -> str:
        """The endpoint, model, and parameters, which determine a reply together with the prompt."""
        parameters = f"{self._temperature}{signed_extra(self._extra_body)}"
        return f"{self._endpoint.cache_name} {self._served_as} {parameters}"

    def __repr__(self) -> str:
        return f"OpenAILLM({self.name!r} at {self._endpoint.host!r})"

    async def complete(
        self, prompt: Prompt, *, max_tokens: int, effort: Effort | None = None
    ) -> Completion:
        """Return the whole reply, after a single try.

        Each error states whether another try may help. Raises ModelAuthError, ModelRateLimitError,
        ModelTimeoutError, ModelUnavailableError, and ModelOutputError for a refusal or a reply that
        is malformed or empty.
        """

        import openai

        async def send(body: dict[str, Any]) -> tuple[Reply, Left | None]:
            try:
                raw = await self._open().chat.completions.with_raw_response.create(**body)
            except openai.BadRequestError as refused:
                if ran_out(refused):
                    return _WITHOUT_TEXT, None
                raise
            if error := parse_error(raw.content):
                raise status_error(error, raw.http_response)
            return Reply.model_validate_json(raw.content), parse_rate_limits(raw.headers)

        async with in_time(self._endpoint, self.name), self._limit_bytes(reply_bytes(max_tokens)):
            reply, left = await self._send(send, prompt, max_tokens, effort, stream=False)
        choice = reply.choices[0]
        message = choice.message or Message()
        text = message.content or ""
        end = classify_end(choice.finish_reason, delivered=True)
        completion = self._make_completion(prompt, text, end, reply.usage, reply.model)
        if reply is _WITHOUT_TEXT:
            completion = replace(
                completion, usage=replace(completion.usage, output_tokens=max_tokens)
            )
        check_reply(self._endpoint, completion, message.refusal, end, self.name)
        if end == "broken":
            raise broken_reply(self._endpoint, completion, choice.finish_reason, self.name)
        return replace(completion, left=left)

    async def stream(
        self, prompt: Prompt, *, max_tokens: int, effort: Effort | None = None
    ) -> AsyncGenerator[str | Completion, None]:
        """Yield pieces of text, then one Completion.

        Raises the errors of ``complete``. Also raises ModelUnavailableError when the stream breaks
        off and ModelTimeoutError when it stalls; after its first piece, it cannot be retried.
        """
        deadline = asyncio.get_running_loop().time() + self._endpoint.timeout_s
        async with in_time(self._endpoint, self.name), self._limit_bytes(stream_bytes(max_tokens)):
            reply, text = await self._open_stream(prompt, max_tokens, effort)
        try:
            while text is not None:
                yield text
                text = await self._next_text(reply, deadline)
        finally:
            await reply.close()
        end = classify_end(reply.finish_reason, delivered=reply.delivered)
        completion = self._make_completion(prompt, reply.text, end, reply.usage, reply.model)
        check_reply(self._endpoint, completion, reply.refusal, end, self.name)
        if end == "broken" and not completion.text.strip():
            raise broken_reply(self._endpoint, completion, reply.finish_reason, self.name)
        # The caller has shown the text, so a broken end only marks it as incomplete.
        yield completion

    async def read_context(self) -> ModelContext | None:
        """Ask the server for the model's context; None if it does not report one.

        OpenAI and Azure do not report it and are not asked. The answer also reveals the kind of an
        unknown server. Raises nothing.
        """
        preset = self._endpoint.preset
        places = preset.limits if preset else PLACES
        said = await read_served_model(self._open(), self._endpoint.url, self._served_as, places)
        if said.context or said.provider:  # otherwise it may just be too busy to answer
            self._served_model = said
        return said.context

    @property
    def refuses_long_prompts(self) -> bool:
        """Whether the endpoint is known to refuse a prompt that is too long."""
        return self._endpoint.refuses

    @property
    def larger_context(self) -> str:
        """The advice for a larger context at the model's server; empty if unknown."""
        known = self._endpoint.recognized or self._endpoint.provider or self._served_model.provider
        return self._served_model.describe_larger_context(known, self._served_as)

    def take_lessons(self, told: ToldLessons | None = None) -> tuple[str, ...]:
        """Return one sentence for each lesson from refusals that a run has not reported yet."""
        return self._dialect.lessons.take(self._host_and_model, told)

    def forget_lessons(self) -> None:
        """Forget the lessons from refusals, because the name now belongs to another model."""
        self._dialect.forget()

    async def probe(self) -> ProbeResult:
        """Ask the endpoint for its list of models, which costs nothing.

        Raises ModelAuthError if it refuses the key, and ModelUnavailableError if it refuses for
        another reason or cannot be reached within 10 s.
        """
        models = await listed_models(self._open(), self._endpoint, self._served_as)
        return probe_result(self._endpoint, self._served_as, models)

    async def close(self) -> None:
        """Close the connections."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    def _open(self) -> openai.AsyncOpenAI:
        if self._client is None:
            self._client = self._endpoint.open()
        return self._client

    @property
    def _host_and_model(self) -> str:
        return f"{self._endpoint.host} (model {self.name})"

    @asynccontextmanager
    async def _limit_bytes(self, most_bytes: int) -> AsyncIterator[None]:
        """Limit the bytes of a reply, so that no endpoint can fill the memory."""
        with limited_body(most_bytes, self._host_and_model):
            yield

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
        import openai

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
            if self._extra_body:
                body["extra_body"] = {**body.get("extra_body", {}), **self._extra_body}
            try:
                sent = await send(body)
                self._dialect.accept(body)
                return sent
            except (openai.OpenAIError, ValueError) as error:
                if isinstance(error, openai.APIStatusError):
                    if self._dialect.learn(body, error):
                        continue
                    if may_be_a_parameter(error):
                        return await self._send_less(send, body, error)
                raise translate(error, self._endpoint, self.name) from None

    async def _send_less(
        self,
        send: Callable[[dict[str, Any]], Awaitable[T]],
        body: dict[str, Any],
        refused: openai.APIStatusError,
    ) -> T:
        """Send a request without its optional parameters, after a refusal that names no cause.

        If that does not help, shorter and shorter replies are requested. Later requests keep the
        form that is accepted. Raises the error of the first refusal if no form is accepted.
        """
        import openai

        optional = [name for name in OPTIONAL if name in body]
        limit = next(name for name in LIMITS if name in body)
        least = [{name: value for name, value in body.items() if name not in optional}]
        room = body[limit]
        while room > SHORT_REPLY:
            room //= 2
            least.append({**body, limit: room})
        for tried in least if optional else least[1:]:
            try:
                sent = await send(tried)
            except (openai.OpenAIError, ValueError) as error:
                if isinstance(error, openai.APIStatusError) and may_be_a_parameter(error):
                    continue
                break
            # A parameter that was accepted before cannot be the cause of the refusal.
            if tried[limit] == body[limit]:
                self._dialect.drop(name for name in optional if name not in self._dialect.accepted)
            elif body[limit] > self._dialect.longest_accepted:
                self._dialect.shorten(tried[limit])
            return sent
        raise translate(refused, self._endpoint, self.name) from None

    async def _open_stream(
        self, prompt: Prompt, max_tokens: int, effort: Effort | None
    ) -> tuple[ChatStream, str | None]:
        """Return an open reply and its first text, or None if the reply has no text."""
        import openai

        async def send(body: dict[str, Any]) -> tuple[ChatStream, str | None]:
            async with AsyncExitStack() as stack:
                try:
                    chunks = await self._open().chat.completions.create(**body)
                except openai.BadRequestError as refused:
                    if ran_out(refused):
                        raise thoughtful_answer(self._host_and_model, max_tokens) from None
                    raise
                reply = ChatStream(chunks, self._host_and_model, max_tokens)
                stack.push_async_callback(reply.close)
                try:
                    text = await reply.first_text()
                except openai.APIError as error:
                    # An error of exactly this type comes from an event of the stream.
                    if type(error) is openai.APIError and error.body:
                        raise status_error(error.body, chunks.response) from None
                    raise
                stack.pop_all()
                return reply, text

        reply, text = await self._send(send, prompt, max_tokens, effort, stream=True)
        if text is None and reply.finish_reason is None and not reply.refusal:
            await reply.close()
            raise malformed(self._endpoint, self.name)
        return reply, text

    async def _next_text(self, reply: ChatStream, deadline: float) -> str | None:
        """Return the next piece of text; None at the end.

        Raises ModelTimeoutError after too long a silence or at the deadline, and
        ModelUnavailableError if the stream breaks off.
        """
        import openai

        now = asyncio.get_running_loop().time()
        try:
            async with asyncio.timeout_at(min(deadline, now + self._idle_timeout_s)):
                return await reply.next_text()
        except TimeoutError:
            raise stalled_answer(self._endpoint, self.name, len(reply.text)) from None
        except (openai.OpenAIError, ValueError):
            raise lost_answer(self._endpoint, self.name, len(reply.text)) from None

    def _make_completion(
        self,
        prompt: Prompt,
        text: str,
        end: End,
        usage: ReplyUsage | None,
        model: str | None,
    ) -> Completion:
        return make_completion(prompt, text, end, usage, model or self.name)


async def listed_models(
    client: openai.AsyncOpenAI, endpoint: Endpoint, model: str
) -> tuple[str, ...]:
    """Return the model ids that the endpoint lists; empty if it has no list.

    Raises ModelError if it cannot be reached within 10 s or refuses the key.
    """
    import openai

    probed = replace(endpoint, timeout_s=PROBE_TIMEOUT_S)
    try:
        # The client's own timeout restarts with every byte, so it cannot limit the whole call.
        async with asyncio.timeout(PROBE_TIMEOUT_S):
            with limited_body(MODEL_LIST_BYTES, f"{endpoint.host} (model {model})"):
                raw = await client.models.with_raw_response.list(timeout=PROBE_TIMEOUT_S)
        listed = json.loads(raw.content)
    except TimeoutError:
        raise timeout_error(probed, model) from None
    except (openai.OpenAIError, ValueError) as error:
        if isinstance(error, openai.NotFoundError):
            return ()
        raise translate(error, probed, model) from None
    entries = listed.get("data") if isinstance(listed, dict) else None
    found = [e.get("id") for e in entries or () if isinstance(e, dict)]
    return tuple(name for name in found if isinstance(name, str))


class ChatStream:
    """Reads a reply from the client's stream of chunks.

    ``room`` is the maximum number of tokens of the reply. The client's errors are not translated.
    """

    def __init__(
        self, chunks: openai.AsyncStream[ChatCompletionChunk], where: str, room: int
    ) -> None:
        self._chunks = chunks
        self._host_and_model, self._room = where, room
        self._parts: list[str] = []
        self._refusals: list[str] = []
        self._left = text_bytes(room)
        self._whole = False  # true if the server sent a whole reply instead of a stream
        self.finish_reason: str | None = None
        self.usage: ReplyUsage | None = None
        self.model: str | None = None

    @property
    def text(self) -> str:
        """The text received so far."""
        return "".join(self._parts)

    @property
    def refusal(self) -> str:
        """The text of a refusal received so far."""
        return "".join(self._refusals)

    @property
    def delivered(self) -> bool:
        """Whether the stream ended with ``[DONE]``, as the interface requires."""
        return self._whole or ends_with_done(self._chunks.response)

    async def first_text(self) -> str | None:
        """Return the first piece like ``next_text``, or the whole text if the reply is no stream.

        Raises APIStatusError if the server sent an error instead of a reply.
        """
        response = self._chunks.response
        if "json" not in response.headers.get("content-type", ""):
            return await self.next_text()
        content = await response.aread()
        if error := parse_error(content):
            raise status_error(error, response)
        reply = Reply.model_validate_json(content)
        self._whole = True
        choice = reply.choices[0]
        return self._keep(
            self._take(
                StreamedPiece(
                    choices=[DeltaChoice(delta=choice.message, finish_reason=choice.finish_reason)],
                    usage=reply.usage,
                    model=reply.model,
                )
            )
        )

    async def next_text(self) -> str | None:
        """Return the next non-empty piece; None at the end, after the usage.

        Raises ValueError (pydantic or JSON) if an event is not a chunk, and ModelOutputError if
        the text is far longer than its room.
        """
        while not self._whole and (raw := await anext(self._chunks, None)) is not None:
            if text := self._keep(self._take(StreamedPiece.model_validate(raw))):
                return text
        return None

    def _keep(self, text: str) -> str | None:
        if text:
            self._parts.append(text)
        return text or None

    async def close(self) -> None:
        """Return the connection to the pool, or drop it if the reply was not read to its end."""
        await self._chunks.close()

    def _take(self, chunk: StreamedPiece) -> str:
        """Process a chunk; return the text that it adds.

        Raises ModelOutputError if the text is far longer than its room.
        """
        self.usage = chunk.usage or self.usage
        self.model = chunk.model or self.model
        if not chunk.choices:
            return ""
        piece = chunk.choices[0]
        self.finish_reason = piece.finish_reason or self.finish_reason
        if piece.delta is None:
            return ""
        text, refusal = piece.delta.content or "", piece.delta.refusal or ""
        self._left -= len(text) + len(refusal)
        if self._left < 0:
            raise overlong_answer(self._host_and_model, self._room)
        if refusal:
            self._refusals.append(refusal)
        return text
