"""Lists the providers and servers of models that settings can name, and the facts about each.

All other facts are learned from the server, its refusals, and its replies. Addresses and names of
variables come from the vendors' documentation.
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
"""The interface of a server: ``openai`` is chat completions, the others are native interfaces."""

PromptCache = Literal["none", "instructions", "nodes"]
"""The parts of a prompt to mark for a provider's prompt cache, if the provider needs marks.

Instructions begin every prompt of a run. Caching the text of nodes pays off only if the next
question reads the same partitions within minutes: storing it costs a quarter more than the usual
price, and reading it again costs a tenth of it.
"""

LimitPlace = Literal["models", "props", "loaded", "info", "running"]
"""The place where a server reports the context of a model.

``models``: its list of models. ``props``: llama.cpp's properties. ``loaded``: LM Studio's list.
``info``: TGI's description. ``running``: Ollama's list of loaded models.
"""


@dataclass(frozen=True, slots=True)
class Preset:
    """The facts about a provider.

    ``url`` is the root of its interface; None if each customer has a separate address, on one of
    the ``domains``. ``variables`` usually contain its key, the strongest first. ``extra`` is sent
    with every request. ``marks_blocks_of`` are prefixes of model names: the prompts of these models
    are cached only if the blocks of the prompts are marked. ``title`` is the name of a server that
    users run themselves. ``larger_context`` is the advice for a larger context on such a server.
    Its placeholders are the ``{model}``, the ``{tokens}`` of the context, the tokens for
    ``{input}``, and the ``{total}`` of all ``{slots}``. The flags say that the provider:

    - ``refuses`` a prompt that is too long with an error;
    - needs the newer name of the limit on a reply (``renamed_limit``);
    - has models for embeddings (``embeds``).
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
        # Without this, OpenRouter may remove the middle of a prompt that is too long for a model.
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
        # A loaded model stays loaded, and loading it a second time would give it another name.
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
        # All slots share the context that llama.cpp is started with.
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
"""Variables of other tools that contain the keys of providers."""


@lru_cache(maxsize=64)  # every call of a model needs this
def recognize(url: str) -> ProviderName | None:
    """Return the provider that owns an address; None if it is unknown or leads to this machine.

    A server on this machine must be asked for its kind, because many programs use the same ports.
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
    """Return whether a URL leads to a host in ``domains``, by https and at the usual port."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return False
    return parts.scheme == "https" and port in (None, 443) and host.endswith(domains)
