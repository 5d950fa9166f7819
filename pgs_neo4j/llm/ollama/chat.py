"""Calls a model of Ollama through its native interface.

Ollama's OpenAI-compatible interface silently cuts a prompt that is longer than the loaded context.
The native interface sets the context of each call and refuses a longer prompt. A change of the
context loads the model again, which takes seconds. So the context grows in few steps and never
shrinks.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping
from typing import TYPE_CHECKING, Any

from pgs_neo4j.config.providers import PRESETS
from pgs_neo4j.errors import (
    ModelError,
    ModelUnavailableError,
    PromptTooLongError,
    Retry,
    UnknownModelError,
)
from pgs_neo4j.llm.context import SMALL_CONTEXT, ModelContext, describe_larger_context
from pgs_neo4j.llm.lessons import ToldLessons, share_learned
from pgs_neo4j.llm.ollama.wire import LINE, ChatReply, Dialect, LineStream, ModelFacts, parse_facts
from pgs_neo4j.llm.openai.chat import IDLE_TIMEOUT_S
from pgs_neo4j.llm.openai.endpoint import (
    Endpoint,
    error_text,
    malformed,
    server_line,
    translate,
)
from pgs_neo4j.llm.openai.refusals import TRIES_SERVER, quote_server, said_line
from pgs_neo4j.llm.openai.replies import (
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
)
from pgs_neo4j.llm.openai.served import get_json, read_loaded_context, root_of
from pgs_neo4j.llm.pace import Pace
from pgs_neo4j.llm.protocol import OnTokens, current_listener
from pgs_neo4j.llm.tracing import ServedAt
from pgs_neo4j.model import Completion, Effort, Prompt, Usage
from pgs_neo4j.model.ceilings import MODEL_LIST_BYTES, reply_bytes, stream_bytes, text_bytes
from pgs_neo4j.text.tokens import estimate

if TYPE_CHECKING:
    import openai

# A larger context needs memory that many machines do not have, and reading it takes minutes. Users
# with enough memory and time can configure a larger context under [models.NAME].
USUAL_CONTEXT = 32_768
LEAST_CONTEXT = 4_096  # Ollama's default if memory is scarce
LONG_MODEL = "llama3.1:8b"  # trained for 131,072 tokens
RATIO_MARGIN = 1.1  # room above the ratio of tokens in the last reply
FRAME_TOKENS = 64  # tokens of the chat template
ASKING_S = 10.0
_NO_MEMORY = ("more system memory", "out of memory", "unable to allocate", "cudamalloc")


class OllamaLLM:
    """A model of Ollama behind an endpoint, whose address may end with ``/v1``.

    ``served_as`` is the model's name at the endpoint, by default ``model``. Calls ask for a context
    of at most ``most_context`` tokens.
    """

    def __init__(
        self,
        model: str,
        endpoint: Endpoint,
        *,
        served_as: str | None = None,
        most_context: int | None = None,
        temperature: float | None = None,
        extra_body: Mapping[str, Any] | None = None,
        idle_timeout_s: float = IDLE_TIMEOUT_S,
    ) -> None:
        self.name = model
        self._served_as = served_as or model
        self._endpoint = endpoint
        self._temperature = temperature
        self._extra_body = dict(extra_body or {})
        self._idle_timeout_s = idle_timeout_s
        self._root = root_of(endpoint.url)
        self._most_context = most_context
        self._dialect = share_learned(Dialect, endpoint.account, self._served_as, Dialect)
        self._client: openai.AsyncOpenAI | None = None

    @property
    def pace(self) -> Pace:
        """The endpoint's pace, shared by all its users in this process."""
        return self._endpoint.pace

    @property
    def served_at(self) -> ServedAt:
        """The provider and the host that answer this model's calls."""
        return self._endpoint.served_at("ollama")

    @property
    def signature(self) -> str:
        """Everything that determines a reply, except the prompt."""
        parameters = f"{self._temperature}{signed_extra(self._extra_body)}"
        return f"{self._endpoint.cache_name} {self._served_as} {parameters}"

    @property
    def refuses_long_prompts(self) -> bool:
        """False, because releases before the end of 2025 ignore the request not to cut a prompt."""
        return False

    @property
    def larger_context(self) -> str:
        """The advice for a larger context, which depends on what limits the current context."""
        known = self._dialect
        trained = known.facts.context if known.facts else None
        if known.memory is not None and known.memory < (trained or USUAL_CONTEXT):
            return (
                "start Ollama with OLLAMA_FLASH_ATTENTION=1 OLLAMA_KV_CACHE_TYPE=q8_0, so that a "
                "context takes half of the memory, or use a smaller model"
            )
        if trained is not None and trained < SMALL_CONTEXT:
            return (
                f"use a model that was trained for more than {trained:,} tokens, for example "
                f"after: ollama pull {LONG_MODEL}"
            )
        return describe_larger_context("ollama", self.name)

    def __repr__(self) -> str:
        return f"OllamaLLM({self.name!r} at {self._endpoint.host!r})"

    async def read_context(self) -> ModelContext | None:
        """Return the largest context that calls ask for. Raises nothing.

        It is the context that the model was trained for, but at most USUAL_CONTEXT, unless the
        server or the Modelfile sets a larger one.
        """
        facts = await self._read_facts(again=True)
        if facts.context is None:
            return None
        loaded = await read_loaded_context(self._open(), self._root, self._served_as)
        chosen = max(USUAL_CONTEXT, facts.configured or 0, loaded or 0)
        return ModelContext(min(facts.context, chosen), "server", server=PRESETS["ollama"].title)

    async def prepare(self, prompt: Prompt, *, max_tokens: int) -> None:
        """Make all later calls ask for a context large enough for this call. Raises nothing."""
        self._choose_context(prompt, max_tokens, await self._read_facts())

    def take_lessons(self, told: ToldLessons | None = None) -> tuple[str, ...]:
        """Return one sentence for each lesson from refusals that a run has not reported yet."""
        return self._dialect.lessons.take(self._host_and_model, told)

    def forget_lessons(self) -> None:
        """Forget the lessons from refusals, because the name now belongs to another model."""
        self._dialect.forget()

    async def probe(self) -> ProbeResult:
        """Ask for the list of models, which costs nothing.

        Raises ModelError if the server refuses or cannot be reached.
        """
        import httpx2
        import openai

        try:
            async with in_time(self._endpoint, self.name):
                with limited_body(MODEL_LIST_BYTES, self._host_and_model):
                    raw = await self._open().get(f"{self._root}/api/tags", cast_to=httpx2.Response)
            entries = raw.json().get("models")
            names = tuple(str(entry["name"]) for entry in entries)
        except (openai.OpenAIError, ValueError) as error:
            raise translate(error, self._endpoint, self.name) from None
        except (AttributeError, KeyError, TypeError):
            raise malformed(self._endpoint, self.name) from None
        model = self._served_as
        if model not in names and f"{model}:latest" in names:
            model = f"{model}:latest"
        return probe_result(self._endpoint, model, names)

    async def complete(
        self, prompt: Prompt, *, max_tokens: int, effort: Effort | None = None
    ) -> Completion:
        """Return the whole reply, after a single try. Raises the errors of ``OpenAILLM.complete``.

        A small machine may write for minutes. So if a listener waits for the reply, the reply is
        streamed and the listener receives its progress.
        """
        import httpx2
        import openai

        if (listener := current_listener()) is not None:
            return await self._complete_with_listener(prompt, max_tokens, effort, listener)
        while True:
            body = await self._build_body(prompt, max_tokens, effort, stream=False)
            try:
                async with in_time(self._endpoint, self.name):
                    with limited_body(reply_bytes(max_tokens), self._host_and_model):
                        raw = await self._open().post(
                            f"{self._root}/api/chat", cast_to=httpx2.Response, body=body
                        )
                reply = ChatReply.model_validate_json(raw.content)
            except (openai.OpenAIError, ValueError) as error:
                self._learn_refusal(error, body)
                continue
            if reply.error or not reply.done:
                raise self._broken_off_error([], reply.error, prompt)
            return self._make_completion(prompt, reply.text, reply)

    async def _complete_with_listener(
        self, prompt: Prompt, max_tokens: int, effort: Effort | None, listener: OnTokens
    ) -> Completion:
        """Return the whole reply; call ``listener`` for each line, which has about one token."""
        import openai

        parts: list[str] = []
        left = text_bytes(max_tokens)
        async with in_time(self._endpoint, self.name):
            lines, reply = await self._open_stream(prompt, max_tokens, effort)
            try:
                while reply is not None and not reply.error:
                    left -= len(reply.text)
                    if left < 0:
                        raise overlong_answer(self._host_and_model, max_tokens)
                    parts.append(reply.text)
                    if reply.done:
                        return self._make_completion(prompt, "".join(parts), reply)
                    listener(len(parts))
                    reply = await _parse_next(lines)
            except (openai.OpenAIError, ValueError) as error:
                raise translate(error, self._endpoint, self.name) from None
            finally:
                await lines.close()
        raise self._broken_off_error([], reply.error if reply else None, prompt)

    async def stream(
        self, prompt: Prompt, *, max_tokens: int, effort: Effort | None = None
    ) -> AsyncGenerator[str | Completion, None]:
        """Yield pieces of text, then one Completion. Raises the errors of ``OpenAILLM.stream``."""
        deadline = asyncio.get_running_loop().time() + self._endpoint.timeout_s
        parts: list[str] = []
        left = text_bytes(max_tokens)
        async with in_time(self._endpoint, self.name):
            lines, reply = await self._open_stream(prompt, max_tokens, effort)
        try:
            while reply is not None:
                if reply.error:
                    raise self._broken_off_error(parts, reply.error, prompt)
                if reply.text:
                    left -= len(reply.text)
                    if left < 0:
                        raise overlong_answer(self._host_and_model, max_tokens)
                    parts.append(reply.text)
                    yield reply.text
                if reply.done:
                    yield self._make_completion(prompt, "".join(parts), reply, streamed=True)
                    return
                reply = await self._next_line(lines, deadline, parts)
        finally:
            await lines.close()
        raise self._broken_off_error(parts)

    async def close(self) -> None:
        """Close the connections."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    @property
    def _host_and_model(self) -> str:
        return f"{self._endpoint.host} (model {self.name})"

    def _open(self) -> openai.AsyncOpenAI:
        if self._client is None:
            self._client = self._endpoint.open()
        return self._client

    async def _read_facts(self, *, again: bool = False) -> ModelFacts:
        """Return the server's facts about the model, asking only once unless ``again``.

        If the server does not answer, the earlier facts are returned.
        """
        known = self._dialect
        if again or known.facts is None:
            asked = {"model": self._served_as}
            if shown := await get_json(self._open(), f"{self._root}/api/show", asked):
                known.facts = parse_facts(shown)
        return known.facts or ModelFacts()

    async def _build_body(
        self, prompt: Prompt, max_tokens: int, effort: Effort | None, *, stream: bool
    ) -> dict[str, Any]:
        """Return the request for a prompt, with the context that the call needs.

        ``truncate`` and ``shift`` are false so that the server refuses a prompt or reply that does
        not fit instead of cutting it.
        """
        facts = await self._read_facts()
        extra = dict(self._extra_body)
        chosen = extra.pop("options", None)
        options: dict[str, Any] = {
            **(chosen if isinstance(chosen, dict) else {}),
            "num_ctx": self._choose_context(prompt, max_tokens, facts),
            "num_predict": max_tokens,
        }
        if self._temperature is not None:
            options["temperature"] = self._temperature
        body = {
            **extra,
            "model": self._served_as,
            "messages": [
                {"role": "system", "content": prompt.system},
                {"role": "user", "content": prompt.user},
            ],
            "stream": stream,
            "truncate": False,
            "shift": False,
            "options": options,
        }
        if effort is not None and facts.thinks is not False and self._dialect.thinks:
            body["think"] = _name_effort(effort) if self._dialect.names_efforts else True
        return body

    def _choose_context(self, prompt: Prompt, max_tokens: int, facts: ModelFacts) -> int:
        """Return the context for a call, which has room for prompt and reply and never shrinks."""
        known = self._dialect
        read = estimate(prompt.system + prompt.user)
        needed = int(read * known.ratio) + FRAME_TOKENS + max_tokens
        context = max(known.asked, LEAST_CONTEXT)
        while context < needed:
            context *= 2
        context = min(context, self._limit_context(facts, context))
        known.asked = max(known.asked, context)
        return context

    def _limit_context(self, facts: ModelFacts, unknown: int) -> int:
        """Return the largest context that a call may ask for; ``unknown`` without a limit."""
        limits = (facts.context, self._most_context, self._dialect.memory)
        return min((limit for limit in limits if limit), default=unknown)

    async def _open_stream(
        self, prompt: Prompt, max_tokens: int, effort: Effort | None
    ) -> tuple[LineStream, ChatReply | None]:
        """Return an open reply and its first line, or None if it has no line."""
        import openai

        while True:
            body = await self._build_body(prompt, max_tokens, effort, stream=True)
            try:
                with limited_body(stream_bytes(max_tokens), self._host_and_model):
                    lines = await self._open().post(
                        f"{self._root}/api/chat",
                        cast_to=object,
                        body=body,
                        options={"headers": {"Accept": LINE}},
                        stream=True,
                        stream_cls=LineStream,
                    )
                    try:
                        return lines, await _parse_next(lines)
                    except BaseException:
                        await lines.close()
                        raise
            except (openai.OpenAIError, ValueError) as error:
                self._learn_refusal(error, body)

    async def _next_line(
        self, lines: LineStream, deadline: float, parts: list[str]
    ) -> ChatReply | None:
        import openai

        now = asyncio.get_running_loop().time()
        try:
            async with asyncio.timeout_at(min(deadline, now + self._idle_timeout_s)):
                return await _parse_next(lines)
        except TimeoutError:
            raise stalled_answer(self._endpoint, self.name, sum(map(len, parts))) from None
        except (openai.OpenAIError, ValueError):
            raise self._broken_off_error(parts) from None

    def _make_completion(
        self, prompt: Prompt, text: str, reply: ChatReply, *, streamed: bool = False
    ) -> Completion:
        """Return a checked completion, and learn from its counts how large prompts are."""
        end = classify_end(reply.done_reason, delivered=reply.done)
        completion = make_completion(prompt, text, end, reply.usage, reply.model or self.name)
        if completion.counted is not None and not completion.doubted:
            shown = completion.counted / max(1, estimate(prompt.system + prompt.user))
            self._dialect.ratio = max(1.0, RATIO_MARGIN * shown)
        check_reply(self._endpoint, completion, None, end, self.name)
        if end == "broken" and not (streamed and text.strip()):
            raise broken_reply(self._endpoint, completion, reply.done_reason, self.name)
        return completion

    def _learn_refusal(self, error: Exception, body: dict[str, Any]) -> None:
        """Learn from a refusal. Return if another request is worth sending, else raise its error.

        Each refusal changes the next request, so the repetition ends.
        """
        import openai

        found = translate(error, self._endpoint, self.name)
        said = error_text(error).lower() if isinstance(error, openai.APIStatusError) else ""
        asked, known = body["options"]["num_ctx"], self._dialect
        if isinstance(found, UnknownModelError):
            raise UnknownModelError(
                f"Ollama at {self._endpoint.host} has no model {self._served_as}; run: ollama pull "
                f"{self._served_as}",
                usage=Usage(),
            ) from None
        if "think" in body and "think" in said:
            if body["think"] is not True and "not support thinking" not in said:
                known.names_efforts = False
                known.lessons.add("refuses levels of effort, so it decides how much it thinks")
            else:
                known.thinks = False
                known.lessons.add("does not support thinking, so it is asked to answer without it")
            return
        if any(words in said for words in _NO_MEMORY):
            known.memory = known.asked = asked // 2
            if known.memory >= LEAST_CONTEXT:
                raise PromptTooLongError(
                    f"{self._host_and_model} has no memory for a context of {asked:,} tokens; use "
                    "a smaller model, or lower max_pass_tokens",
                    context=known.memory,
                    refuses=False,
                ) from None
            line = server_line(error, self._endpoint)
            raise ModelUnavailableError(
                f"{self._host_and_model} has too little memory for this model"
                f"{quote_server(line)}; use a smaller one",
                usage=Usage(),
            ) from None
        if isinstance(found, PromptTooLongError):
            most = self._limit_context(known.facts or ModelFacts(), asked)
            if asked < most:
                known.asked = max(known.asked, min(most, 2 * asked))
                return
            raise PromptTooLongError(
                f"the prompt is longer than the context of {asked:,} tokens that "
                f"{self._host_and_model} has; lower max_pass_tokens or use a model with a larger "
                "context",
                context=found.context or asked,
                prompt=found.prompt,
            ) from None
        raise found from None

    def _broken_off_error(
        self, parts: list[str], said: str | None = None, prompt: Prompt | None = None
    ) -> ModelError:
        """Return the error for a reply that broke off.

        ``parts`` is the text that arrived, and ``said`` the server's error. ``prompt`` is given to
        keep its text out of the message.
        """
        if not parts:
            sent = prompt.user.encode() if prompt else b""
            line = said_line(said or "", sent, (self._endpoint.sent_key,))
            return ModelUnavailableError(
                f"the model endpoint {self._host_and_model} reported an error while answering"
                f"{quote_server(line)}; ask again later",
                retry=Retry(tries=TRIES_SERVER),
            )
        return lost_answer(self._endpoint, self.name, sum(map(len, parts)))


def _name_effort(effort: Effort) -> str:
    return "low" if effort == "minimal" else effort


async def _parse_next(lines: LineStream) -> ChatReply | None:
    line = await anext(lines, None)
    return None if line is None else ChatReply.model_validate_json(str(line))
