"""Builds the models that the settings name, and refuses default models that a provider lacks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from pgs_neo4j.config import (
    EmbedderName,
    PGSConfig,
    Settings,
    embedding_model,
    model_access,
    rerank_access,
    with_overrides,
)
from pgs_neo4j.config.providers import PRESETS, ProviderName
from pgs_neo4j.errors import ConfigError, PGSError
from pgs_neo4j.llm.openai.endpoint import Endpoint
from pgs_neo4j.llm.protocol import LLM, Embedder, RelevanceModel
from pgs_neo4j.model.ceilings import RERANK_S

if TYPE_CHECKING:
    from pgs_neo4j.llm.openai.recognizing import AskedServer

DEFAULTS_OF: tuple[ProviderName | None, ...] = (None, "openai", "azure")
"""Providers that may have the default models. At Azure, customers name deployments themselves."""
TASKS = ("sweep_model", "synthesis_model")  # the other tasks use these models by default
NAMED = 8  # maximum number of a server's models that the error lists
TIMEOUT_S = 10.0


@dataclass(frozen=True, slots=True)
class Readers:
    """The models for each task, some of them the same object.

    ``answer`` answers from a search, ``keywords`` names its keywords, and ``ordering`` orders its
    results.
    """

    sweep: LLM
    synthesis: LLM
    answer: LLM
    keywords: LLM
    ordering: LLM

    @property
    def name(self) -> str:
        """The name of the sweep and the synthesis model for display; both if they differ."""
        if self.sweep.name == self.synthesis.name:
            return self.sweep.name
        return f"{self.sweep.name} + {self.synthesis.name}"

    @property
    def by_task(self) -> dict[str, LLM]:
        """The models by the names of their tasks, for display."""
        return {
            "sweep model": self.sweep,
            "synthesis model": self.synthesis,
            "answer model": self.answer,
            "keyword model": self.keywords,
            "ordering model": self.ordering,
        }

    def with_sweep(self, llm: LLM) -> Readers:
        """Return the models with another sweep model, also for tasks that shared the former one."""
        return replace(
            self,
            sweep=llm,
            keywords=llm if self.keywords is self.sweep else self.keywords,
            ordering=llm if self.ordering is self.sweep else self.ordering,
        )

    def with_synthesis(self, llm: LLM) -> Readers:
        """Return the models with another synthesis model, also for answers if they shared it."""
        answer = llm if self.answer is self.synthesis else self.answer
        return replace(self, synthesis=llm, answer=answer)

    async def close(self) -> None:
        """Close each model once."""
        for model in dict.fromkeys(self.by_task.values()):
            await model.close()


def create_llms(settings: Settings, config: PGSConfig) -> Readers:
    """Return the configured readers, without connecting.

    Raises ModelAuthError if a provider needs a key and none is set. Raises ConfigError if a base
    URL is malformed or must not get the key, or if a model has no endpoint.
    """
    if not settings.uses_models:
        from pgs_neo4j.llm.extractive import ExtractiveLLM

        reader = ExtractiveLLM()
        return Readers(reader, reader, reader, reader, reader)
    names = configured_models(settings)
    asked: dict[Endpoint, AskedServer] = {}
    models = {name: _create_llm(settings, config, name, asked) for name in dict.fromkeys(names)}
    return Readers(*(models[name] for name in names))


def configured_models(settings: Settings) -> tuple[str, str, str, str, str]:
    """Return the names of the models for each task, in the order of Readers."""
    sweep, synthesis = settings.sweep_model, settings.synthesis_model
    return (
        sweep,
        synthesis,
        settings.answer_model or synthesis,
        settings.keyword_model or sweep,
        settings.ordering_model or sweep,
    )


def choose_llms(
    settings: Settings, created: Readers | None, sweep: LLM | None, synthesis: LLM | None
) -> Readers:
    """Return the models for each task, in which models of a call replace ``created`` models.

    A model of a call also does related tasks for which the settings name no model.
    """
    if created is None:
        assert sweep is not None
        assert synthesis is not None
        return Readers(sweep, synthesis, synthesis, sweep, sweep)
    return Readers(
        sweep or created.sweep,
        synthesis or created.synthesis,
        created.answer if settings.answer_model or synthesis is None else synthesis,
        created.keywords if settings.keyword_model or sweep is None else sweep,
        created.ordering if settings.ordering_model or sweep is None else sweep,
    )


def _create_llm(
    settings: Settings, config: PGSConfig, name: str, asked: dict[Endpoint, AskedServer]
) -> LLM:
    """Return a model by its name in the settings, without connecting.

    The provider determines its interface. If the address shows no provider, the first call will ask
    the server whether it is Ollama. ``asked`` contains these servers, so that models share them.
    Raises the errors of ``create_llms``.
    """
    from pgs_neo4j.llm.ollama.chat import OllamaLLM
    from pgs_neo4j.llm.openai.chat import OpenAILLM
    from pgs_neo4j.llm.openai.recognizing import AskedLLM, AskedServer

    entry = settings.models.get(name)
    endpoint, served_as = _create_endpoint(settings, config, name)
    context = _find_context(settings, name)
    caches = entry.prompt_cache if entry is not None else "instructions"
    temperature = settings.temperature
    if entry is not None and entry.temperature is not None:
        temperature = entry.temperature
    sent: dict[str, Any] = {
        "served_as": served_as,
        "temperature": temperature,
        "extra_body": entry.extra_body if entry is not None else {},
    }
    natively = partial(OllamaLLM, name, endpoint, most_context=context, **sent)
    if endpoint.provider is None:
        server = asked.setdefault(endpoint, AskedServer(endpoint))
        return AskedLLM(server, OpenAILLM(name, endpoint, **sent), natively)
    match PRESETS[endpoint.provider].wire:
        case "anthropic":
            from pgs_neo4j.llm.anthropic.chat import AnthropicLLM

            return AnthropicLLM(name, endpoint, caches=caches, **sent)
        case "ollama":
            return natively()
        case "openai":
            return OpenAILLM(name, endpoint, caches=caches, **sent)


def create_embedder(
    settings: Settings, config: PGSConfig, name: EmbedderName | None = None
) -> Embedder | None:
    """Return the embedder ``name``, or else the configured embedder, or else hashing.

    Returns None for "none". Raises ConfigError for "stored", because its vectors come from the
    graph and not from a model. Also raises the errors of ``create_llms`` for an endpoint.
    """
    match name or settings.embedder or "hashing":
        case "none":
            return None
        case "hashing":
            from pgs_neo4j.llm.embedders.hashing import DIMENSIONS, HashingEmbedder

            return HashingEmbedder(settings.embedding_dimensions or DIMENSIONS)
        case "openai":
            from pgs_neo4j.llm.embedders import openai

            model = settings.embedding_model or openai.MODEL
            endpoint, served_as = _create_endpoint(settings, config, model)
            return openai.OpenAIEmbedder(
                endpoint,
                model=model,
                served_as=served_as,
                dimensions=settings.embedding_dimensions,
                context=_find_context(settings, model),
            )
        case "sentence-transformers":
            from pgs_neo4j.llm.embedders import sentence_transformers

            return sentence_transformers.SentenceTransformersEmbedder(
                embedding_model(settings, sentence_transformers.MODEL)
            )
        case "stored":
            raise ConfigError(
                "the stored embedder reads vectors of a graph and cannot embed a text; choose "
                "hashing, openai or sentence-transformers for that"
            )


def create_relevance_model(settings: Settings, config: PGSConfig) -> RelevanceModel | None:
    """Return the configured reranker, without connecting; None if none is configured.

    Raises ConfigError if the address is malformed or must not get the key, and ModelAuthError for a
    malformed key.
    """
    access = rerank_access(settings)
    if access is None:
        return None
    from pgs_neo4j.llm.openai.refusals import RERANKER_WORDS
    from pgs_neo4j.llm.openai.reranking import HTTPReranker

    timeout_s = min(config.model_timeout_s, RERANK_S)
    endpoint = Endpoint(access.base_url, access.key, timeout_s, RERANKER_WORDS)
    endpoint.pace.allow(config.tokens_per_minute)
    context = _find_context(settings, settings.rerank_model)
    return HTTPReranker(endpoint, settings.rerank_model, context=context)


def _find_context(settings: Settings, model: str | None) -> int | None:
    entry = settings.models.get(model or "")
    return entry.context if entry is not None else None


def _create_endpoint(settings: Settings, config: PGSConfig, model: str) -> tuple[Endpoint, str]:
    """Return the endpoint of a model, and the model's name at the endpoint."""
    access = model_access(settings, model)
    endpoint = Endpoint(
        access.base_url, access.key, config.model_timeout_s, provider=access.provider
    )
    endpoint.pace.allow(config.tokens_per_minute)
    return endpoint, access.model or model


async def require_models(settings: Settings, config: PGSConfig) -> None:
    """Check that a model is set for each task whose provider lacks the default model.

    The default models are OpenAI's. Any other provider would answer every call with an error about
    a model that the user never chose, and only after the graph was partitioned. If a model is not
    set, the provider is asked at no cost which models it has. Raises ConfigError, which names them.
    """
    if not settings.uses_models:
        return
    unset = [
        name
        for name in TASKS
        if name not in settings.model_fields_set
        and model_access(settings, getattr(settings, name)).provider not in DEFAULTS_OF
    ]
    if not unset:
        return
    timeout_s = min(config.model_timeout_s, TIMEOUT_S)
    readers = create_llms(settings, with_overrides(config, {"model_timeout_s": timeout_s}))
    try:
        found: list[tuple[str, str]] = []
        for name in unset:
            llm = readers.sweep if name == "sweep_model" else readers.synthesis
            if (has := await _describe_models(llm)) is not None:
                found.append((name, has))
    finally:
        await readers.close()
    if found:
        provider = model_access(settings, getattr(settings, found[0][0])).provider
        variables = " and ".join(f"PGS_{name.upper()}" for name, _ in found)
        raise ConfigError(
            f"no model is set, and {provider} has no default one; set {variables}, or pass --model "
            f"NAME; {found[0][1]}"
        )


async def _describe_models(llm: LLM) -> str | None:
    """Return a clause about the models of a server; None if it has the wanted model."""
    from pgs_neo4j.llm.openai.recognizing import Probed

    assert isinstance(llm, Probed)  # as each model of a provider can be asked
    try:
        result = await llm.probe()
    except PGSError as error:
        return f"which models it has is unknown, because {error}"
    if result.listed:
        return None
    if not result.models:
        return "its server lists no model"
    more = f", and {len(result.models) - NAMED:,} more" if len(result.models) > NAMED else ""
    return f"it has {', '.join(result.models[:NAMED])}{more}"
