"""Asks a server for the context of a model.

Each kind of server reports it at a different path, so the answer also reveals the kind of server.
All requests are plain GETs that cost nothing, and a server answers 404 to an unknown path. Failures
are ignored, because no caller depends on an answer.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit, urlunsplit

from pgs_neo4j.config.providers import PRESETS, LimitPlace, ProviderName
from pgs_neo4j.llm.context import ModelContext, describe_larger_context
from pgs_neo4j.llm.lengths import LONGEST_CONTEXT
from pgs_neo4j.llm.openai.replies import limited_body
from pgs_neo4j.model.ceilings import MODEL_LIST_BYTES

if TYPE_CHECKING:
    import openai

ASKING_S = 5.0
PLACES: tuple[LimitPlace, ...] = ("models", "loaded", "info", "running")
"""The order in which to ask an unknown server. Its list of models shows if it is llama.cpp."""
LOADED = "loaded_context_length"
# Fields of a model in a list, and whether the servers with this field refuse longer prompts. The
# servers are, in this order, LM Studio, vLLM, Groq, Mistral, Gemini, and OpenRouter, which may
# compress prompts unless a request forbids it.
LISTED = {
    LOADED: False,
    "max_model_len": True,
    "context_window": True,
    "max_context_length": True,
    "inputTokenLimit": True,
    "context_length": False,
}


@dataclass(frozen=True, slots=True)
class ServedModel:
    """The answer of a server about a model.

    ``provider`` is the kind of server; None if unknown. ``trained`` is the longest context that the
    model was trained for, in tokens. ``slots`` is the number of calls that the server answers at
    once.
    """

    context: ModelContext | None = None
    provider: ProviderName | None = None
    trained: int | None = None
    slots: int = 1

    def describe_larger_context(self, provider: ProviderName | None, model: str) -> str:
        """Return the advice for a larger context at a kind of server; empty if unknown."""
        if self.context and self.trained and self.trained <= self.context.tokens:
            return f"use a model that was trained for more than {self.trained:,} tokens"
        return describe_larger_context(provider, model, most=self.trained, slots=self.slots)


async def read_served_model(
    client: openai.AsyncOpenAI,
    base_url: str,
    model: str,
    places: Sequence[LimitPlace] = PLACES,
) -> ServedModel:
    """Ask a server for the context of a model, and for the kind of server.

    The places are asked in order until one reports a context. Takes at most 5 s in all, and raises
    nothing.
    """
    found = ServedModel()
    try:
        async with asyncio.timeout(ASKING_S):
            for place in places:
                said = await _ask_place(client, base_url, model, place)
                if said.context or said.provider:
                    found = said
                if found.context:
                    break
    except TimeoutError:
        pass
    return found


async def _ask_place(
    client: openai.AsyncOpenAI, base_url: str, model: str, place: LimitPlace
) -> ServedModel:
    """Ask a server for the context of a model in one place."""
    root = root_of(base_url)
    match place:
        case "models":
            listed = await get_json(client, f"{base_url.rstrip('/')}/models")
            entry = _find_entry(listed, model)
            if context := _find_context(entry, LISTED):
                kind: ProviderName | None = "vllm" if _is_owned(listed, "vllm") else None
                return _make_served_model(context, kind)
            # llama.cpp has only one model, and answers for it under any name.
            if _is_llamacpp(listed):
                said = await _ask_place(client, base_url, model, "props")
                return replace(said, provider="llamacpp", trained=_find_trained_context(listed))
            return ServedModel()
        case "props":  # llama.cpp
            props = await get_json(client, f"{root}/props")
            settings = props.get("default_generation_settings")
            tokens = parse_tokens(settings.get("n_ctx") if isinstance(settings, Mapping) else None)
            slots = parse_tokens(props.get("total_slots")) or 1
            context = ModelContext(tokens, "server", refuses=True) if tokens else None
            return replace(
                _make_served_model(context, "llamacpp" if context else None), slots=slots
            )
        case "loaded":  # LM Studio
            listed = await get_json(client, f"{root}/api/v0/models")
            entry = _find_entry(listed, model)
            # A model that is not loaded has only the context that it was trained for.
            context = _find_context(entry, {LOADED: False})
            ours = any("state" in one or LOADED in one for one in _list_entries(listed, "data"))
            trained = parse_tokens(entry.get("max_context_length"))
            return replace(
                _make_served_model(context, "lmstudio" if ours else None), trained=trained
            )
        case "info":  # TGI
            info = await get_json(client, f"{root}/info")
            tokens = parse_tokens(info.get("max_total_tokens"))
            context = ModelContext(tokens, "server", refuses=True) if tokens else None
            return _make_served_model(context, "tgi" if context else None)
        case "running":  # Ollama
            tokens = await read_loaded_context(client, root, model)
            return _make_served_model(ModelContext(tokens, "server") if tokens else None, None)


def _make_served_model(context: ModelContext | None, provider: ProviderName | None) -> ServedModel:
    if context is not None and provider is not None:
        context = replace(context, server=PRESETS[provider].title)
    return ServedModel(context, provider)


async def read_text_limit(
    client: openai.AsyncOpenAI, base_url: str, model: str, places: Sequence[LimitPlace] = PLACES
) -> ModelContext | None:
    """Ask for the limit of a model for vectors or relevance, in tokens; None if unknown.

    Text Embeddings Inference has its own path for that, which also says whether it cuts longer
    texts. Takes at most 10 s in all, and raises nothing.
    """
    try:
        async with asyncio.timeout(ASKING_S):
            info = await get_json(client, f"{root_of(base_url)}/info")
    except TimeoutError:
        return None
    if tokens := parse_tokens(info.get("max_input_length")):
        return ModelContext(tokens, "server", refuses=info.get("auto_truncate") is False)
    return (await read_served_model(client, base_url, model, places)).context


async def read_loaded_context(client: openai.AsyncOpenAI, root: str, model: str) -> int | None:
    """Return the context of a model that Ollama has loaded; None if it is not loaded."""
    for running in _list_entries(await get_json(client, f"{root}/api/ps"), "models"):
        if running.get("name") in (model, f"{model}:latest"):
            return parse_tokens(running.get("context_length"))
    return None


async def get_json(
    client: openai.AsyncOpenAI, url: str, body: Mapping[str, object] | None = None
) -> Mapping[str, Any]:
    """Send a GET request, or a POST request with ``body``; return the JSON object of the reply.

    A list is returned under the name ``data``. The result is empty if the reply is an error or not
    JSON. Raises nothing.
    """
    import httpx2
    import openai

    try:
        with limited_body(MODEL_LIST_BYTES, urlsplit(url).hostname or ""):
            if body is None:
                reply = await client.get(url, cast_to=httpx2.Response)
            else:
                reply = await client.post(url, cast_to=httpx2.Response, body=body)
            value = json.loads(reply.content)
    except (openai.OpenAIError, httpx2.HTTPError, ValueError, RecursionError):
        return {}
    if isinstance(value, list):
        return {"data": value}
    return value if isinstance(value, Mapping) else {}


def _list_entries(value: Mapping[str, Any], *names: str) -> Iterator[Mapping[str, Any]]:
    for name in names:
        listed = value.get(name)
        for entry in listed if isinstance(listed, list) else ():
            if isinstance(entry, Mapping):
                yield entry


def _find_entry(value: Mapping[str, Any], model: str) -> Mapping[str, Any]:
    wanted = (model, f"models/{model}")
    for entry in _list_entries(value, "data", "models"):
        if entry.get("id") in wanted or entry.get("name") in wanted:
            return entry
    return {}


def _find_context(entry: Mapping[str, Any], names: Mapping[str, bool]) -> ModelContext | None:
    for name, refuses in names.items():
        if tokens := parse_tokens(entry.get(name)):
            return ModelContext(tokens, "server", refuses=refuses)
    return None


def _is_owned(listed: Mapping[str, Any], owner: str) -> bool:
    return any(entry.get("owned_by") == owner for entry in _list_entries(listed, "data", "models"))


def _is_llamacpp(listed: Mapping[str, Any]) -> bool:
    return _is_owned(listed, "llamacpp") or _find_trained_context(listed) is not None


def _find_trained_context(listed: Mapping[str, Any]) -> int | None:
    """Return the context that llama.cpp's model was trained for, in tokens."""
    for entry in _list_entries(listed, "data", "models"):
        meta = entry.get("meta")
        if isinstance(meta, Mapping) and (tokens := parse_tokens(meta.get("n_ctx_train"))):
            return tokens
    return None


def parse_tokens(value: object) -> int | None:
    """Return ``value`` if it is a possible number of tokens of a context; else None."""
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if 0 < value <= LONGEST_CONTEXT else None


def root_of(base_url: str) -> str:
    """Return the address of a server, without the ``/v1`` of OpenAI's interface."""
    parts = urlsplit(base_url)
    return urlunsplit((parts.scheme, parts.netloc, "", "", "")) + parts.path.rstrip(
        "/"
    ).removesuffix("/v1")
