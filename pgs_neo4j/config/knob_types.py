"""Knobs and settings as keyword arguments, written by ``tests/tools/generate.py``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, TypedDict

from pydantic import SecretStr

from pgs_neo4j.config.models_table import ModelEntry
from pgs_neo4j.config.schedule_table import ScheduleEntry
from pgs_neo4j.config.search_table import SearchDefaults
from pgs_neo4j.config.settings import Provider
from pgs_neo4j.config.token_table import TokenEntry
from pgs_neo4j.model.scope import ScopeValue


class Knobs(TypedDict, total=False):
    """Knobs of PGSConfig for one call; None leaves the configured value."""

    chunk_strategy: Literal["content", "sentence", "token", "semantic"] | None
    chunk_tokens: int | None
    chunk_overlap: int | None
    gleaning: Literal["auto", "0", "1", "2", "3"] | None
    max_document_mb: float | None
    min_community_size: int | None
    target_partition_max: int | None
    max_partition_tokens: int | None
    algorithm: Literal["leiden-louvain", "leiden", "louvain"] | None
    random_seed: int | None
    gds_concurrency: int | None
    seed_drift: float | None
    centroid: Literal["mean", "weighted"] | None
    keep_generations: int | None
    route_by: Literal["evidence", "centroids"] | None
    max_sweep_partitions: int | None
    min_sweep_partitions: int | None
    partition_relevance_threshold: float | None
    sweep_fraction: float | Literal["none"] | None
    max_flag_sweeps: int | None
    sweep_max_tokens: int | None
    sweep_effort: Literal["minimal", "low", "medium", "high"] | Literal["none"] | None
    max_pass_characters: int | None
    max_pass_tokens: int | Literal["none"] | None
    synthesis_max_tokens: int | None
    synthesis_effort: Literal["minimal", "low", "medium", "high"] | Literal["none"] | None
    strict: bool | None
    max_calls: int | Literal["none"] | None
    max_tokens: int | Literal["none"] | None
    max_unmatched_tokens: int | Literal["none"] | None
    max_cost: float | Literal["none"] | None
    run_timeout_s: float | Literal["none"] | None
    max_concurrent_sweeps: int | None
    max_concurrent_calls: int | None
    hedge: bool | None
    tokens_per_minute: int | Literal["none"] | None
    model_timeout_s: float | None
    cache: bool | None
    cache_mb: float | None
    lease_s: float | None
    query_timeout_s: float | None


class SettingsOverrides(Knobs, total=False):
    """Settings and knobs for one connection; None leaves the configured value."""

    neo4j_uri: str | None
    neo4j_user: str | None
    neo4j_password: str | SecretStr | None
    neo4j_database: str | None
    neo4j_ca: str | None
    graph: str | None
    scope: Mapping[str, ScopeValue] | None
    where: str | None
    as_of: str | None
    llm_provider: Provider | None
    llm_base_url: str | None
    llm_api_key: str | SecretStr | None
    sweep_model: str | None
    synthesis_model: str | None
    temperature: float | None
    answer_model: str | None
    keyword_model: str | None
    ordering_model: str | None
    embedding_model: str | None
    embedding_dimensions: int | Literal["none"] | None
    search: SearchDefaults | Mapping[str, object] | None
    rerank_base_url: str | None
    rerank_api_key: str | SecretStr | None
    rerank_model: str | None
    models: Mapping[str, ModelEntry | Mapping[str, object]] | None
    schedule: Sequence[ScheduleEntry | Mapping[str, object]] | None
    token: Sequence[TokenEntry | Mapping[str, object]] | None
    confirm_cost: float | Literal["none"] | None
    log_format: Literal["text", "json"] | None
    telemetry_text: bool | None
    ingest_loader: str | None
    ingest_chunker: str | None
    ingest_extractor: str | None
    ingest_resolver: str | None
    ingest_describer: str | None
