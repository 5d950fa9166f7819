"""How messages call the settings of an endpoint."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointWords:
    """How messages call the settings of an endpoint, and the interface that it has."""

    url: str = "PGS_LLM_BASE_URL"
    key: str = "PGS_LLM_API_KEY (or OPENAI_API_KEY)"
    models: str = "PGS_SWEEP_MODEL, PGS_SYNTHESIS_MODEL"
    unset: str = "use the public endpoint"
    interface: str = "OpenAI-compatible"
    faster: str = "raise model_timeout_s or use a faster model"

    @property
    def setting(self) -> str:
        """The address as ``pgs.toml`` calls it."""
        return self.url.removeprefix("PGS_").lower()


MODEL_WORDS = EndpointWords()
RERANKER_WORDS = EndpointWords(
    url="PGS_RERANK_BASE_URL",
    key="PGS_RERANK_API_KEY",
    models="PGS_RERANK_MODEL",
    unset="do without this reranker",
    interface="that of a /rerank interface",
    faster="use a faster model, or another reranker",
)
