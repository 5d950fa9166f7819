"""The providers and servers of models that have a name, and what is known of each.

Everything else is learned: from the server, from its refusals, and from its replies. Addresses and
names of variables are those of the vendors' documentation.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal
from urllib.parse import urlsplit

from pgs_neo4j.config.addresses import OPENAI_URL, is_loopback, is_same_server

ProviderName = Literal[
    "openai",
    "anthropic",
    "xai",
    "gemini",
    "azure",
    "openrouter",
    "groq",
    "mistral",
    "ollama",
    "lmstudio",
    "vllm",
    "llamacpp",
    "tgi",
]

Wire = Literal["openai", "anthropic", "ollama"]
"""The interface of a server: that of chat completions, or a native one."""

PromptCache = Literal["none", "instructions", "nodes"]
"""What a provider's prompt cache is asked to hold, where it has to be asked.

Instructions begin every prompt of a run. The text of nodes pays only if the next question reads the
same partitions within minutes: to store it costs a quarter more, to read it again a tenth.
"""

LimitPlace = Literal["models", "props", "loaded", "info", "running"]
"""Where a server says what a model can take.

``models``: its list of models. ``props``: llama.cpp's properties. ``loaded``: LM Studio's list.
``info``: that of TGI. ``running``: Ollama's list of loaded models.
"""


@dataclass(frozen=True, slots=True)
class Preset:
    """What is known of a provider.

    ``url`` is the root of its interface; None: each customer has one of their own, on one of the
    ``domains``. ``variables`` are customary for its key, the strongest first. ``refuses``: it
    answers a prompt that is too long with an error. ``renamed_limit``: it wants the newer name of
    the limit on a reply. ``extra`` goes with every request. ``marks_blocks_of`` are the beginnings
    of models' names whose prompts are cached only where their blocks are marked. ``embeds``: it
    has models for embeddings. ``title`` is what a server that people run themselves calls itself.
    ``larger_context`` is what to do there for one, in words, with the ``{model}``, the ``{tokens}``
    of its context, those of the ``{input}``, and the ``{total}`` of all ``{slots}``.
    """

    url: str | None
    wire: Wire = "openai"
    variables: tuple[str, ...] = ()
    domains: tuple[str, ...] = ()
    refuses: bool = False
    limits: tuple[LimitPlace, ...] = ("models",)
    renamed_limit: bool = False
    embeds: bool = True
    extra: Mapping[str, Any] = field(default_factory=dict)
    marks_blocks_of: tuple[str, ...] = ()
    title: str = ""
    larger_context: str = ""


PRESETS: Mapping[ProviderName, Preset] = {
    "openai": Preset(
        OPENAI_URL,
        variables=("OPENAI_API_KEY",),
        domains=(".api.openai.com",),
        refuses=True,
        limits=(),
        renamed_limit=True,
    ),
    "anthropic": Preset(
        "https://api.anthropic.com",
        wire="anthropic",
        variables=("ANTHROPIC_API_KEY",),
        domains=(".anthropic.com",),
        refuses=True,
        embeds=False,
    ),
    "xai": Preset("https://api.x.ai/v1", variables=("XAI_API_KEY",), refuses=True, embeds=False),
    "gemini": Preset(
        "https://generativelanguage.googleapis.com/v1beta/openai",
        variables=("GEMINI_API_KEY", "GOOGLE_API_KEY"),
        refuses=True,
    ),
    "azure": Preset(
        None,
        variables=("AZURE_OPENAI_API_KEY",),
        domains=(".openai.azure.com", ".services.ai.azure.com", ".cognitiveservices.azure.com"),
        refuses=True,
        limits=(),
        renamed_limit=True,
    ),
    "openrouter": Preset(
        "https://openrouter.ai/api/v1",
        variables=("OPENROUTER_API_KEY",),
        # Without this, it may take the middle out of a prompt that is too long for a model.
        extra={"transforms": []},
        marks_blocks_of=("anthropic/",),
    ),
    "groq": Preset(
        "https://api.groq.com/openai/v1",
        variables=("GROQ_API_KEY",),
        refuses=True,
        renamed_limit=True,
        embeds=False,
    ),
    "mistral": Preset("https://api.mistral.ai/v1", variables=("MISTRAL_API_KEY",), refuses=True),
    "ollama": Preset(
        "http://127.0.0.1:11434",
        wire="ollama",
        limits=("running",),
        title="Ollama",
        larger_context="write a larger context under [models.'{model}'] in pgs.toml",
    ),
    "lmstudio": Preset(
        "http://127.0.0.1:1234/v1",
        limits=("loaded",),
        title="LM Studio",
        # What is loaded stays, and a second load would get another name.
        larger_context="run LM Studio's: lms unload {model}; lms load {model} --context-length "
        "{tokens}",
    ),
    "vllm": Preset(
        "http://127.0.0.1:8000/v1",
        title="vLLM",
        larger_context="start vLLM with: vllm serve {model} --max-model-len {tokens}",
    ),
    "llamacpp": Preset(
        "http://127.0.0.1:8080/v1",
        limits=("props",),
        title="llama.cpp",
        # All slots share the context that it is started with.
        larger_context="start llama.cpp with: llama-server -c {total} -np {slots}",
    ),
    "tgi": Preset(
        "http://127.0.0.1:8080/v1",
        limits=("info",),
        title="TGI",
        larger_context="start TGI with: --max-total-tokens {tokens} --max-input-tokens {input}",
    ),
}

KEY_VARIABLES = tuple(dict.fromkeys(name for one in PRESETS.values() for name in one.variables))
"""Variables of other tools that hold the keys of providers."""


@lru_cache(maxsize=64)  # asked with every call
def recognize(url: str) -> ProviderName | None:
    """Return the provider whose own address this is; None for any other, and this machine's.

    A server on this machine has to be asked what it is: many programs use the same ports.
    """
    if is_loopback(url):
        return None
    for name, preset in PRESETS.items():
        if preset.url is not None and is_same_server(url, preset.url):
            return name
        if is_on(url, preset.domains):
            return name
    return None


def is_on(url: str, domains: tuple[str, ...]) -> bool:
    """Return whether a URL leads to a host of some domains, encrypted and at the usual port."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return False
    return parts.scheme == "https" and port in (None, 443) and host.endswith(domains)
