"""Builds the models that the settings name."""

from __future__ import annotations

from dataclasses import dataclass

from pgs_neo4j.config import (
    EmbedderName,
    PGSConfig,
    Settings,
    embedding_model,
    model_access,
    rerank_access,
)
from pgs_neo4j.errors import ConfigError
from pgs_neo4j.llm.openai.endpoint import Endpoint
from pgs_neo4j.llm.protocol import LLM, Embedder, RelevanceModel
from pgs_neo4j.model.ceilings import RERANK_S


@dataclass(frozen=True, slots=True)
class Readers:
    """The models for sweeps and for the synthesis, possibly the same object."""

    sweep: LLM
    synthesis: LLM

    @property
    def name(self) -> str:
        """Both names for display, or the name that they share."""
        if self.sweep.name == self.synthesis.name:
            return self.sweep.name
        return f"{self.sweep.name} + {self.synthesis.name}"

    async def close(self) -> None:
        """Close both."""
        await self.sweep.close()
        if self.synthesis is not self.sweep:
            await self.synthesis.close()


def create_llms(settings: Settings, config: PGSConfig) -> Readers:
    """Return the configured readers, without connecting.

    Raises ModelAuthError when the public endpoint is meant and no key is set, ConfigError
    when the base URL is malformed or must not get the key.
    """
    if settings.provider == "extractive":
        from pgs_neo4j.llm.extractive import ExtractiveLLM

        reader = ExtractiveLLM()
        return Readers(reader, reader)
    from pgs_neo4j.llm.openai.chat import OpenAILLM

    endpoint = _endpoint(settings, config)
    sweep = OpenAILLM(settings.sweep_model, endpoint)
    if settings.synthesis_model == settings.sweep_model:
        return Readers(sweep, sweep)
    return Readers(sweep, OpenAILLM(settings.synthesis_model, endpoint))


def create_embedder(
    settings: Settings, config: PGSConfig, name: EmbedderName | None = None
) -> Embedder | None:
    """Return the embedder called ``name``, or the configured one, else hashing.

    None for "none". Raises ConfigError for "stored", whose vectors belong to the graph and not to a
    model. Also raises the errors of ``create_llms`` for an endpoint.
    """
    match name or settings.embedder or "hashing":
        case "none":
            return None
        case "hashing":
            from pgs_neo4j.llm.embedders.hashing import DIMENSIONS, HashingEmbedder

            return HashingEmbedder(settings.embedding_dimensions or DIMENSIONS)
        case "openai":
            from pgs_neo4j.llm.embedders import openai

            return openai.OpenAIEmbedder(
                _endpoint(settings, config),
                model=settings.embedding_model or openai.MODEL,
                dimensions=settings.embedding_dimensions,
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
    """Return the configured model that orders texts, without connecting; None without one.

    Raises ConfigError when the address is malformed or must not get the key, and ModelAuthError for
    a malformed key.
    """
    access = rerank_access(settings)
    if access is None:
        return None
    from pgs_neo4j.llm.openai.reranking import HTTPReranker
    from pgs_neo4j.llm.openai.wording import RERANKER_WORDS

    timeout_s = min(config.model_timeout_s, RERANK_S)
    endpoint = Endpoint(access.base_url, access.key, timeout_s, RERANKER_WORDS)
    endpoint.pace.allow(config.tokens_per_minute)
    return HTTPReranker(endpoint, settings.rerank_model)


def _endpoint(settings: Settings, config: PGSConfig) -> Endpoint:
    access = model_access(settings)
    endpoint = Endpoint(access.base_url, access.key, config.model_timeout_s)
    endpoint.pace.allow(config.tokens_per_minute)
    return endpoint
