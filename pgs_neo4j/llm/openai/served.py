"""Asks a server of models what a model can take.

Every kind of server has a place of its own for that. All are plain GET requests that cost nothing;
a server that does not know one answers 404. Nothing here is
worth failing for: what cannot be read is unknown.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit, urlunsplit

from pgs_neo4j.llm.context import ModelContext
from pgs_neo4j.llm.lengths import LONGEST_CONTEXT
from pgs_neo4j.llm.openai.ceiling import limited_body
from pgs_neo4j.model.ceilings import MODEL_LIST_BYTES

if TYPE_CHECKING:
    import openai

ASKING_S = 5.0
# Fields of an entry in a list of models, and whether the servers that have them refuse longer
# prompts: vLLM, Groq, Mistral, Gemini, OpenRouter (which may compress unless told not to).
LISTED = {
    "loaded_context_length": False,
    "max_model_len": True,
    "context_window": True,
    "max_context_length": True,
    "inputTokenLimit": True,
    "context_length": False,
}


async def read_served_context(
    client: openai.AsyncOpenAI, base_url: str, model: str
) -> ModelContext | None:
    """Return the context of a model as its server says it, in tokens; None if it does not.

    Takes at most 5 s in all, and raises nothing.
    """
    try:
        async with asyncio.timeout(ASKING_S):
            return await _ask(client, base_url, model)
    except TimeoutError:
        return None


async def _ask(client: openai.AsyncOpenAI, base_url: str, model: str) -> ModelContext | None:
    root = _root(base_url)
    listed = await _get(client, f"{base_url.rstrip('/')}/models")
    entry = _entry(listed, model)
    if found := _listed_context(entry):
        return found
    if _is_llamacpp(entry):
        props = await _get(client, f"{root}/props")
        settings = props.get("default_generation_settings")
        if tokens := _tokens(settings.get("n_ctx") if isinstance(settings, Mapping) else None):
            return ModelContext(tokens, "server", refuses=True)
    loaded = _entry(await _get(client, f"{root}/api/v0/models"), model)  # LM Studio
    if found := _listed_context(loaded):
        return found
    info = await _get(client, f"{root}/info")  # TGI
    if tokens := _tokens(info.get("max_total_tokens")):
        return ModelContext(tokens, "server", refuses=True)
    for running in _entries(await _get(client, f"{root}/api/ps"), "models"):  # Ollama
        if running.get("name") in (model, f"{model}:latest") and (
            tokens := _tokens(running.get("context_length"))
        ):
            return ModelContext(tokens, "server")
    return None


async def _get(client: openai.AsyncOpenAI, url: str) -> Mapping[str, Any]:
    import httpx2
    import openai

    try:
        with limited_body(MODEL_LIST_BYTES, urlsplit(url).hostname or ""):
            reply = await client.get(url, cast_to=httpx2.Response)
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


def _listed_context(entry: Mapping[str, Any]) -> ModelContext | None:
    for name, refuses in LISTED.items():
        if tokens := _tokens(entry.get(name)):
            return ModelContext(tokens, "server", refuses=refuses)
    return None


def _is_llamacpp(entry: Mapping[str, Any]) -> bool:
    meta = entry.get("meta")
    trained = isinstance(meta, Mapping) and "n_ctx_train" in meta
    return trained or entry.get("owned_by") == "llamacpp"


def _tokens(value: object) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if 0 < value <= LONGEST_CONTEXT else None


def _root(base_url: str) -> str:
    parts = urlsplit(base_url)
    return urlunsplit((parts.scheme, parts.netloc, "", "", "")) + parts.path.rstrip(
        "/"
    ).removesuffix("/v1")
