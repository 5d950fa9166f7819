"""Declares the settings of the database, the models, the embedder, and the schedule."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, Literal

from pydantic import Field, PrivateAttr, SecretStr, field_serializer

from pgs_neo4j.config.addresses import masked_address
from pgs_neo4j.config.declaration import About, NoneAllowed
from pgs_neo4j.config.models_table import Models
from pgs_neo4j.config.provenance import Provenance, Sourced, read_sources_once
from pgs_neo4j.config.providers import ProviderName
from pgs_neo4j.config.schedule_table import Schedule
from pgs_neo4j.config.scope_table import ConditionText, DateText, ScopeValues
from pgs_neo4j.config.search_table import Search, SearchDefaults
from pgs_neo4j.config.token_table import TokenEntries

Provider = ProviderName | Literal["extractive"]
EmbedderName = Literal["none", "stored", "openai", "hashing", "sentence-transformers"]
ADDRESSES = ("neo4j_uri", "llm_base_url", "rerank_base_url")


class Settings(Sourced):
    """How to reach the database and the models.

    Secrets, and the parts of an address that may be secret, are masked when it is printed or
    converted to JSON.
    """

    neo4j_uri: Annotated[
        str | None,
        About("connection"),
        Field(
            description="address as bolt://, bolt+s://, neo4j://, or neo4j+s://; unset: the "
            "managed local server"
        ),
    ] = None
    neo4j_user: Annotated[str, About("connection"), Field(description="user name")] = "neo4j"
    neo4j_password: Annotated[
        SecretStr | None, About("connection"), Field(description="password")
    ] = None
    neo4j_database: Annotated[
        str | None,
        About("connection"),
        Field(description="database; unset: the user's home database"),
    ] = None
    neo4j_ca: Annotated[
        str | None,
        About("connection"),
        Field(
            description="file of the CA certificates to trust with bolt+s and neo4j+s; unset: "
            "those of this machine"
        ),
    ] = None
    graph: Annotated[
        str | None, About("connection"), Field(description="the graph to use when none is named")
    ] = None
    scope: Annotated[
        ScopeValues,
        About("connection"),
        Field(
            description="values that every node must have, or pgs does not see it, in one [scope] "
            "table of PROPERTY = value"
        ),
    ] = {}  # noqa: RUF012 - pydantic copies defaults
    where: Annotated[
        ConditionText | None,
        About("connection"),
        Field(description="condition that every node must meet, such as year >= 2020"),
    ] = None
    as_of: Annotated[
        DateText | None,
        About("connection"),
        Field(description="date at which nodes and relationships must be valid, as in 2024-05-01"),
    ] = None
    llm_provider: Annotated[
        Provider | None,
        About("models"),
        Field(
            description="provider or server of the models; extractive: no model; unset: openai "
            "when a key or base URL is set, else extractive"
        ),
    ] = None
    llm_base_url: Annotated[
        str | None,
        About("models"),
        Field(
            description="endpoint of the models; unset: that of the provider, or OPENAI_BASE_URL"
        ),
    ] = None
    llm_api_key: Annotated[
        SecretStr | None,
        About("models"),
        Field(
            description="key of the endpoint; unset: the provider's customary variable, such as "
            "OPENAI_API_KEY"
        ),
    ] = None
    sweep_model: Annotated[
        str, About("models"), Field(description="model that sweeps partitions")
    ] = "gpt-5-mini"
    synthesis_model: Annotated[
        str, About("models"), Field(description="model that writes the synthesis")
    ] = "gpt-5"
    temperature: Annotated[
        float | None,
        About("models"),
        Field(
            ge=0,
            le=2,
            description="temperature of all models; unset: each server's own. A model that refuses "
            "it is asked without",
        ),
    ] = None
    answer_model: Annotated[
        str | None,
        About("models"),
        Field(description="model that answers from a search; unset: synthesis_model"),
    ] = None
    keyword_model: Annotated[
        str | None,
        About("models"),
        Field(description="model that names the keywords of a search; unset: sweep_model"),
    ] = None
    ordering_model: Annotated[
        str | None,
        About("models"),
        Field(description="model that the reranker model asks; unset: sweep_model"),
    ] = None
    embedder: Annotated[
        EmbedderName | None,
        About("embedding"),
        Field(
            description="embeds questions, documents, and partitions without vectors; unset: "
            "stored if the graph has embeddings, else hashing"
        ),
    ] = None
    embedding_model: Annotated[
        str | None,
        About("embedding"),
        Field(
            description="model of the embedders openai and sentence-transformers; the latter needs "
            "the extra of that name"
        ),
    ] = None
    embedding_dimensions: Annotated[
        int | None,
        About("embedding"),
        Field(
            ge=1,
            description="vector length to request from the openai embedder; none: the model's "
            "default",
        ),
        NoneAllowed,
    ] = None
    search: Annotated[
        Search,
        About("search"),
        Field(description="defaults of searches, in one [search] table"),
    ] = SearchDefaults()
    rerank_base_url: Annotated[
        str | None,
        About("search"),
        Field(description="endpoint of the reranker http, which gets POST requests at /rerank"),
    ] = None
    rerank_api_key: Annotated[
        SecretStr | None, About("search"), Field(description="key of that endpoint")
    ] = None
    rerank_model: Annotated[
        str | None,
        About("search"),
        Field(description="model of the reranker http; unset: that of the endpoint"),
    ] = None
    models: Annotated[
        Models,
        About("models"),
        Field(description="prices and context sizes of models, one [models.NAME] table each"),
    ] = {}  # noqa: RUF012 - pydantic copies defaults
    schedule: Annotated[
        Schedule,
        About("jobs"),
        Field(description="jobs that 'pgs schedule' runs, one [[schedule]] table each"),
    ] = ()
    token: Annotated[
        TokenEntries,
        About("serving"),
        Field(description="who may use 'pgs serve', one [[token]] table each"),
    ] = ()
    confirm_cost: Annotated[
        float | None,
        About("serving"),
        Field(
            ge=0,
            allow_inf_nan=False,
            description="the page of 'pgs serve' asks before a question that may cost more",
        ),
        NoneAllowed,
    ] = 1.0
    log_format: Annotated[
        Literal["text", "json"],
        About("serving"),
        Field(description="what stderr of every command has: lines of text, or JSON log records"),
    ] = "text"
    telemetry_text: Annotated[
        bool,
        About("serving"),
        Field(description="put questions, prompts, and replies into spans of OpenTelemetry"),
    ] = False
    ingest_loader: Annotated[
        str | None,
        About("ingestion"),
        Field(description="own reader of files, as package.module:name; unset: built in"),
    ] = None
    ingest_chunker: Annotated[
        str | None,
        About("ingestion"),
        Field(description="own chunker of documents, as package.module:name; unset: built in"),
    ] = None
    ingest_extractor: Annotated[
        str | None,
        About("ingestion"),
        Field(description="own extractor of entities, as package.module:name; unset: built in"),
    ] = None
    ingest_resolver: Annotated[
        str | None,
        About("ingestion"),
        Field(description="own resolver of names, as package.module:name; unset: built in"),
    ] = None
    ingest_describer: Annotated[
        str | None,
        About("ingestion"),
        Field(description="own describer of entities, as package.module:name; unset: built in"),
    ] = None

    _provenance: Provenance = PrivateAttr(default_factory=Provenance)

    def __init__(self, **values: Any) -> None:
        """Read all sources, and record the source of each value."""
        with read_sources_once() as inputs:
            super().__init__(**values)
        self._provenance = inputs.trace(type(self).model_fields, values)

    @property
    def provenance(self) -> Provenance:
        """The source of each value."""
        return self._provenance

    @field_serializer(*ADDRESSES, when_used="unless-none")
    def _address(self, address: str) -> str:
        return masked_address(address)

    def __repr_args__(self) -> Iterable[tuple[str | None, Any]]:
        """Yield the fields as pydantic does, with secrets in addresses masked."""
        for name, value in super().__repr_args__():
            masked = name in ADDRESSES and isinstance(value, str)
            yield name, masked_address(value) if masked else value

    @property
    def provider(self) -> Provider:
        """The provider in force: the configured one, or an inferred one.

        It is inferred from the key, the base URL, and the endpoint of the sweep model.
        """
        if self.llm_provider is not None:
            return self.llm_provider
        if self.llm_api_key or self.llm_base_url:
            return "openai"
        entry = self.models.get(self.sweep_model)
        if entry is None or not entry.has_endpoint:
            return "extractive"
        return entry.provider or "openai"

    @property
    def uses_models(self) -> bool:
        """Whether a language model reads, instead of the extractive reader."""
        return self.provider != "extractive"
