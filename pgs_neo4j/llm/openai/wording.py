"""How messages call the settings of an endpoint."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointWords:
    """How messages call the settings of an endpoint, the interface that it has, and what is sent.

    ``shorter`` and ``refused`` advise where a text is too long, and where a request is refused for
    a reason that is not known.
    """

    url: str = "PGS_LLM_BASE_URL"
    key: str = "PGS_LLM_API_KEY (or OPENAI_API_KEY)"
    models: str = "PGS_SWEEP_MODEL, PGS_SYNTHESIS_MODEL"
    unset: str = "use the public endpoint"
    interface: str = "OpenAI-compatible"
    faster: str = "raise model_timeout_s or use a faster model"
    sent: str = "the prompt"
    shorter: str = "lower max_pass_tokens or use a model with a larger context"
    refused: str = "check the model's name and the effort and token settings"

    @property
    def for_embedding(self) -> EndpointWords:
        """The words for an embedding model behind the same endpoint."""
        return replace(
            self,
            models="PGS_EMBEDDING_MODEL",
            sent="a text",
            shorter="lower chunk_tokens or use an embedding model with a larger context",
            refused="check embedding_model and embedding_dimensions",
        )

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
    sent="a text or the question",
    shorter="use a rerank_model with a larger context",
    refused="check rerank_model",
)
