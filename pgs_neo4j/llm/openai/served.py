"""Asks a server of models what a model can take.

Every kind of server has a place of its own for that, which shows what kind it is. All are plain GET
requests that cost nothing; a server that does not know one answers 404. Nothing here is worth
failing for: what cannot be read is unknown.
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
"""Where an unknown server is asked, in this order. Its list shows whether it is llama.cpp."""
LOADED = "loaded_context_length"
# Fields of an entry in a list of models, and whether the servers that have them refuse longer
# prompts: vLLM, Groq, Mistral, Gemini, OpenRouter (which may compress unless told not to).
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
    """What a server says of a model, and shows of itself by saying it.

    ``provider`` is the kind of server, None: unknown. ``trained`` is the longest context that the
    model was trained for, in tokens; ``slots`` are the calls that are answered at once.
    """

    context: ModelContext | None = None
    provider: ProviderName | None = None
    trained: int | None = None
    slots: int = 1

    def describe_larger_context(self, provider: ProviderName | None, model: str) -> str:
        """Return what to do for a larger context at a kind of server; empty: unknown."""
        if self.context and self.trained and self.trained <= self.context.tokens:
            return f"use a model that was trained for more than {self.trained:,} tokens"
        return describe_larger_context(provider, model, most=self.trained, slots=self.slots)


async def read_served_model(
    client: openai.AsyncOpenAI,
    base_url: str,
    model: str,
    places: Sequence[LimitPlace] = PLACES,
) -> ServedModel:
    """Return what a server says of a model, and which kind of server it is.

    The next place is asked only if the one before has shown no context. Takes at most 5 s in all,
    and raises nothing.
    """
    found = ServedModel()
    try:
        async with asyncio.timeout(ASKING_S):
            for place in places:
                said = await _ask(client, base_url, model, place)
                if said.context or said.provider:
                    found = said
                if found.context:
                    break
    except TimeoutError:
        pass
    return found


async def _ask(
    client: openai.AsyncOpenAI, base_url: str, model: str, place: LimitPlace
) -> ServedModel:
    root = root_of(base_url)
    match place:
        case "models":
            listed = await get_json(client, f"{base_url.rstrip('/')}/models")
            entry = _entry(listed, model)
            if context := _listed_context(entry, LISTED):
                kind: ProviderName | None = "vllm" if _is_owned(listed, "vllm") else None
                return _served(context, kind)
            # It answers for its one model under any name.
            if _is_llamacpp(listed):
                said = await _ask(client, base_url, model, "props")
                return replace(said, provider="llamacpp", trained=_trained(listed))
            return ServedModel()
        case "props":  # llama.cpp
            props = await get_json(client, f"{root}/props")
            settings = props.get("default_generation_settings")
            tokens = parse_tokens(settings.get("n_ctx") if isinstance(settings, Mapping) else None)
            slots = parse_tokens(props.get("total_slots")) or 1
            context = ModelContext(tokens, "server", refuses=True) if tokens else None
            return replace(_served(context, "llamacpp" if context else None), slots=slots)
        case "loaded":  # LM Studio
            listed = await get_json(client, f"{root}/api/v0/models")
            entry = _entry(listed, model)
            # A model that is not loaded has only the context that it was trained for.
            context = _listed_context(entry, {LOADED: False})
            ours = any("state" in one or LOADED in one for one in _entries(listed, "data"))
            trained = parse_tokens(entry.get("max_context_length"))
            return replace(_served(context, "lmstudio" if ours else None), trained=trained)
        case "info":  # TGI
            info = await get_json(client, f"{root}/info")
            tokens = parse_tokens(info.get("max_total_tokens"))
            context = ModelContext(tokens, "server", refuses=True) if tokens else None
            return _served(context, "tgi" if context else None)
        case "running":  # Ollama
            tokens = await read_loaded_context(client, root, model)
            return _served(ModelContext(tokens, "server") if tokens else None, None)


def _served(context: ModelContext | None, provider: ProviderName | None) -> ServedModel:
    if context is not None and provider is not None:
        context = replace(context, server=PRESETS[provider].title)
    return ServedModel(context, provider)


async def read_text_limit(
    client: openai.AsyncOpenAI, base_url: str, model: str, places: Sequence[LimitPlace] = PLACES
) -> ModelContext | None:
    """Return the tokens of a text that a model for vectors or relevance reads; None if unknown.

    Text Embeddings Inference says that in a place of its own, and whether it cuts longer texts.
    Takes at most 10 s in all, and raises nothing.
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
    """Return the context that Ollama has loaded a model with; None if it is not loaded."""
    for running in _entries(await get_json(client, f"{root}/api/ps"), "models"):
        if running.get("name") in (model, f"{model}:latest"):
            return parse_tokens(running.get("context_length"))
    return None


async def get_json(
    client: openai.AsyncOpenAI, url: str, body: Mapping[str, object] | None = None
) -> Mapping[str, Any]:
    """Return what a server sends for a URL, which gets a POST request if it has a ``body``.

    Empty if the reply is an error or no JSON. Raises nothing.
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


def _entries(value: Mapping[str, Any], *names: str) -> Iterator[Mapping[str, Any]]:
    for name in names:
        listed = value.get(name)
        for entry in listed if isinstance(listed, list) else ():
            if isinstance(entry, Mapping):
                yield entry


def _entry(value: Mapping[str, Any], model: str) -> Mapping[str, Any]:
    wanted = (model, f"models/{model}")
    for entry in _entries(value, "data", "models"):
        if entry.get("id") in wanted or entry.get("name") in wanted:
            return entry
    return {}


def _listed_context(entry: Mapping[str, Any], names: Mapping[str, bool]) -> ModelContext | None:
    for name, refuses in names.items():
        if tokens := parse_tokens(entry.get(name)):
            return ModelContext(tokens, "server", refuses=refuses)
    return None


def _is_owned(listed: Mapping[str, Any], owner: str) -> bool:
    return any(entry.get("owned_by") == owner for entry in _entries(listed, "data", "models"))


def _is_llamacpp(listed: Mapping[str, Any]) -> bool:
    return _is_owned(listed, "llamacpp") or _trained(listed) is not None


def _trained(listed: Mapping[str, Any]) -> int | None:
    """Return the context that llama.cpp's model was trained for, in tokens."""
    for entry in _entries(listed, "data", "models"):
        meta = entry.get("meta")
        if isinstance(meta, Mapping) and (tokens := parse_tokens(meta.get("n_ctx_train"))):
            return tokens
    return None


def parse_tokens(value: object) -> int | None:
    """Return a number of tokens that a context can have; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if 0 < value <= LONGEST_CONTEXT else None


def root_of(base_url: str) -> str:
    """Return the address of a server, without the root of OpenAI's interface."""
    parts = urlsplit(base_url)
    return urlunsplit((parts.scheme, parts.netloc, "", "", "")) + parts.path.rstrip(
        "/"
    ).removesuffix("/v1")
