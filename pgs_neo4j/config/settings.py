"""Settings: how to reach the outside world, and the knobs of the method.

Precedence: default < ``pgs.toml`` < environment < per call. ``pgs.toml`` is the file named
by ``PGS_CONFIG``, else the one in the working directory, else the one in the user's
configuration directory. Its keys are the field names below; the environment variables are
the same names in capitals with ``PGS_`` in front. ``OPENAI_BASE_URL`` and
``OPENAI_API_KEY`` stand in where ours are set nowhere.
"""

from __future__ import annotations

import difflib
import json
import os
import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from platformdirs import user_config_path
from pydantic import BeforeValidator, Field, SecretStr, ValidationError, field_serializer
from pydantic_settings import (
    BaseSettings,
    InitSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    SettingsError,
)

from pgs_neo4j.config.models_table import Models
from pgs_neo4j.config.schedule_table import Schedule
from pgs_neo4j.errors import ConfigError
from pgs_neo4j.model import Effort

Algorithm = Literal["leiden-louvain", "leiden", "louvain"]
Provider = Literal["openai", "extractive"]
EmbedderName = Literal["none", "stored", "openai", "hashing", "sentence-transformers"]
Origin = Literal["default", "file", "environment", "call"]

# Optional numbers and efforts may be said to be none, also to lift a default; where the text of
# a setting says "unset" instead, "none" would be taken as a value of its own.
NoneAllowed = BeforeValidator(lambda value: None if value == "none" else value)
CUSTOMARY = {"llm_base_url": "OPENAI_BASE_URL", "llm_api_key": "OPENAI_API_KEY"}
ADDRESSES = ("neo4j_uri", "llm_base_url")
MASK = "***"
_CREDENTIALS = re.compile(r"^(\w[\w+.-]*://)?.*@", re.DOTALL)  # to the last @: passwords hold some
_QUERY = re.compile(r"(?<=[?#]).+", re.DOTALL)
SOURCES = SettingsConfigDict(
    env_prefix="PGS_",
    env_ignore_empty=True,
    frozen=True,
    extra="ignore",
    hide_input_in_errors=True,
)


def config_file() -> Path | None:
    """The ``pgs.toml`` in force, or None. Raises ConfigError when PGS_CONFIG names no file."""
    named = os.environ.get("PGS_CONFIG")
    if named:
        path = Path(named).expanduser()
        if not path.is_file():
            raise ConfigError(f"PGS_CONFIG names {path}, which is not a file; correct or unset it")
        return path
    places = (Path.cwd() / "pgs.toml", user_config_path("pgs-neo4j") / "pgs.toml")
    return next((path for path in places if path.is_file()), None)


def masked_address(address: str) -> str:
    """An address without what may be secret in it: credentials and query."""
    return _QUERY.sub(MASK, _CREDENTIALS.sub(rf"\1{MASK}@", address))


def _file_values() -> dict[str, Any]:
    path = config_file()
    if path is None:
        return {}
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"{path} cannot be read: {error}") from error
    for key in values:
        _check_name(key, str(path))
    return values


def _customary_values() -> dict[str, Any]:
    return {
        field: os.environ[variable]
        for field, variable in CUSTOMARY.items()
        if os.environ.get(variable)
    }


def _sources(
    cls: type[BaseSettings],
    init_settings: PydanticBaseSettingsSource,
    env_settings: PydanticBaseSettingsSource,
) -> tuple[PydanticBaseSettingsSource, ...]:
    return (
        init_settings,
        env_settings,
        InitSettingsSource(cls, _file_values()),
        InitSettingsSource(cls, _customary_values()),
    )


class PGSConfig(BaseSettings):
    """The knobs of the method: the nine published parameters with their defaults, and ours."""

    model_config = SOURCES

    max_concurrent_sweeps: Annotated[
        int, Field(ge=1, le=256, description="model calls in flight at first")
    ] = 5
    max_concurrent_calls: Annotated[
        int,
        Field(
            ge=1,
            le=256,
            description="and at most; they grow to it while all is well",
        ),
    ] = 20
    hedge: Annotated[
        bool,
        Field(description="ask stragglers a second time in slots that would idle; costs more"),
    ] = False
    tokens_per_minute: Annotated[
        int | None,
        Field(ge=1, description="tokens for the endpoint, shared by all that use it here"),
        NoneAllowed,
    ] = None
    max_calls: Annotated[
        int | None, Field(ge=1, description="model calls of one run at most"), NoneAllowed
    ] = None
    max_tokens: Annotated[
        int | None,
        Field(ge=1, description="tokens of one run at most, input and output"),
        NoneAllowed,
    ] = None
    max_cost: Annotated[
        float | None,
        Field(gt=0, allow_inf_nan=False, description="cost of one run at most, by the prices"),
        NoneAllowed,
    ] = None
    run_timeout_s: Annotated[
        float | None,
        Field(gt=0, allow_inf_nan=False, description="seconds for a whole run; none: no bound"),
        NoneAllowed,
    ] = None
    max_flag_sweeps: Annotated[
        int, Field(ge=0, description="flagged partitions swept in a second wave at most")
    ] = 3
    cache: Annotated[
        bool, Field(description="use replies to the same prompts again that the graph holds")
    ] = True
    cache_mb: Annotated[
        float, Field(ge=0, allow_inf_nan=False, description="size of these replies at most")
    ] = 64.0
    min_community_size: Annotated[
        int, Field(ge=1, description="merge communities with fewer nodes than this")
    ] = 30
    target_partition_max: Annotated[
        int, Field(ge=2, description="split partitions with more nodes than this")
    ] = 1800
    max_sweep_partitions: Annotated[
        int, Field(ge=1, description="partitions swept per question at most")
    ] = 15
    min_sweep_partitions: Annotated[
        int, Field(ge=0, description="partitions swept per question at least; 0: relevance decides")
    ] = 0
    partition_relevance_threshold: Annotated[
        float, Field(ge=-1.0, le=1.0, description="cosine from which a partition is relevant")
    ] = 0.25
    sweep_max_tokens: Annotated[
        int,
        Field(
            ge=64,
            description="tokens of a sweep report; cut off, it is asked again with more room",
        ),
    ] = 6000
    synthesis_max_tokens: Annotated[
        int, Field(ge=64, description="tokens the synthesis may have")
    ] = 16000
    sweep_fraction: Annotated[
        float | None,
        Field(
            ge=0.1, le=1.0, description="share of routed partitions to sweep, instead of the cap"
        ),
        NoneAllowed,
    ] = None

    max_pass_characters: Annotated[
        int, Field(ge=6000, description="characters of one prompt at most, sweep or synthesis")
    ] = 500_000
    max_pass_tokens: Annotated[
        int | None,
        Field(ge=2000, description="input tokens of one prompt at most, sweep or synthesis"),
        NoneAllowed,
    ] = None
    max_partition_tokens: Annotated[
        int, Field(ge=1000, description="split partitions whose text is longer than this")
    ] = 600_000
    algorithm: Annotated[
        Algorithm,
        Field(description="community detection in GDS; the default is Leiden then Louvain"),
    ] = "leiden-louvain"
    random_seed: Annotated[int, Field(ge=0, description="seed of the community detection")] = 42
    gds_concurrency: Annotated[
        int, Field(ge=1, le=64, description="GDS threads; more than 1 is not reproducible")
    ] = 1
    seed_drift: Annotated[
        float,
        Field(
            ge=0.0,
            le=1.0,
            description="share of a graph that may change before its partitions are made from "
            "nothing again; 0: always from nothing",
        ),
    ] = 0.2
    centroid: Annotated[
        Literal["mean", "weighted"], Field(description="plain or node-weighted centroids")
    ] = "mean"
    lease_s: Annotated[
        float,
        Field(ge=1, le=3600, description="seconds without a sign of life that end a job's lease"),
    ] = 30.0
    keep_generations: Annotated[
        int, Field(ge=1, description="generations kept per graph, those of sessions aside")
    ] = 3
    sweep_effort: Annotated[
        Effort | None,
        Field(description="reasoning effort of sweeps, where supported; none: as the model has it"),
        NoneAllowed,
    ] = None
    synthesis_effort: Annotated[
        Effort | None,
        Field(description="the same of the synthesis; none: as the model has it"),
        NoneAllowed,
    ] = "high"
    model_timeout_s: Annotated[
        float, Field(gt=0, description="seconds for one model call, its retries included")
    ] = 600.0
    query_timeout_s: Annotated[
        float, Field(gt=0, description="seconds for one database statement")
    ] = 300.0

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """The call, the environment, ``pgs.toml``, the customary names; no dotenv, no secrets."""
        del dotenv_settings, file_secret_settings
        return _sources(settings_cls, init_settings, env_settings)


class Settings(BaseSettings):
    """Everything that can be configured.

    Secrets, and what an address may hold of them, are masked when it is printed or made JSON.
    """

    model_config = SOURCES

    neo4j_uri: Annotated[
        str | None,
        Field(
            description="bolt://, bolt+s://, neo4j:// or neo4j+s://; unset: the managed local "
            "server"
        ),
    ] = None
    neo4j_user: Annotated[str, Field(description="user name")] = "neo4j"
    neo4j_password: Annotated[SecretStr | None, Field(description="password")] = None
    neo4j_database: Annotated[
        str | None, Field(description="database; unset: the user's home database")
    ] = None
    graph: Annotated[str | None, Field(description="the graph to use when none is named")] = None
    llm_provider: Annotated[
        Provider | None,
        Field(description="unset: openai when a key or base URL is set, else extractive"),
    ] = None
    llm_base_url: Annotated[
        str | None, Field(description="OpenAI-compatible endpoint; OPENAI_BASE_URL stands in")
    ] = None
    llm_api_key: Annotated[
        SecretStr | None, Field(description="its key; OPENAI_API_KEY stands in")
    ] = None
    sweep_model: Annotated[str, Field(description="model of the sweeps")] = "gpt-5-mini"
    synthesis_model: Annotated[str, Field(description="model of the synthesis")] = "gpt-5"
    embedder: Annotated[
        EmbedderName | None,
        Field(description="embeds the question; unset: stored if the graph has any, else hashing"),
    ] = None
    embedding_model: Annotated[
        str | None,
        Field(description="model name for the openai and sentence-transformers embedders"),
    ] = None
    embedding_dimensions: Annotated[
        int | None,
        Field(
            ge=1,
            description="vector length to ask the openai embedder for; none: as the model has it",
        ),
        NoneAllowed,
    ] = None
    models: Annotated[
        Models,
        Field(description="prices and contexts of models, one [models.NAME] table each"),
    ] = {}
    schedule: Annotated[
        Schedule, Field(description="what 'pgs schedule' repartitions, one [[schedule]] table each")
    ] = ()

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """The call, the environment, ``pgs.toml``, the customary names; no dotenv, no secrets."""
        del dotenv_settings, file_secret_settings
        return _sources(settings_cls, init_settings, env_settings)

    @field_serializer(*ADDRESSES, when_used="unless-none")
    def _address(self, address: str) -> str:
        return masked_address(address)

    def __repr_args__(self) -> Iterable[tuple[str | None, Any]]:
        """The fields as pydantic shows them, but for secrets in addresses."""
        for name, value in super().__repr_args__():
            masked = name in ADDRESSES and isinstance(value, str)
            yield name, masked_address(value) if masked else value

    @property
    def provider(self) -> Provider:
        """The provider in force: the one named, else what key and base URL suggest."""
        if self.llm_provider is not None:
            return self.llm_provider
        return "openai" if self.llm_api_key or self.llm_base_url else "extractive"


@dataclass(frozen=True, slots=True)
class Loaded:
    """Settings and knobs in force, and where each value came from."""

    settings: Settings
    config: PGSConfig
    origins: dict[str, Origin]


def load(overrides: dict[str, Any] | None = None) -> Loaded:
    """Collect settings from all sources; ``overrides`` are the per-call values.

    Raises ConfigError that names the setting when one is unknown or out of range.
    """
    given = {name: value for name, value in (overrides or {}).items() if value is not None}
    for name in given:
        _check_name(name, "the call")
    settings = _build(Settings, {k: v for k, v in given.items() if k in Settings.model_fields})
    config = _build(PGSConfig, {k: v for k, v in given.items() if k in PGSConfig.model_fields})
    return Loaded(settings, config, _origins(given))


def with_overrides(config: PGSConfig, overrides: dict[str, Any]) -> PGSConfig:
    """The same knobs but for ``overrides`` that are not None. Raises ConfigError."""
    given = {name: value for name, value in overrides.items() if value is not None}
    for name in given:
        if name not in PGSConfig.model_fields:
            raise ConfigError(_unknown(name, "the call", list(PGSConfig.model_fields)))
    return _build(PGSConfig, config.model_dump(exclude_unset=True) | given) if given else config


def stored(config: PGSConfig) -> str:
    """The knobs as JSON, and which of them somebody had set."""
    kept = {"values": config.model_dump(mode="json"), "set": sorted(config.model_fields_set)}
    return json.dumps(kept)


def restored(text: str, overrides: dict[str, Any]) -> PGSConfig:
    """The knobs as they were stored, but for ``overrides`` that are not None.

    Raises ConfigError.
    """
    kept = json.loads(text)
    given = {name: value for name, value in overrides.items() if value is not None}
    known = {n: v for n, v in kept["values"].items() if n in PGSConfig.model_fields}
    config = _build(PGSConfig, known | given)
    fields = (set(kept["set"]) & known.keys()) | given.keys()
    return PGSConfig.model_construct(_fields_set=fields, **dict(config))


Model = TypeVar("Model", bound=BaseSettings)


def _build(cls: type[Model], values: dict[str, Any]) -> Model:
    try:
        return cls(**values)
    except ValidationError as error:
        raise ConfigError("; ".join(_sentence(cls, dict(d)) for d in error.errors())) from None
    except SettingsError as error:
        raise ConfigError(f"the environment cannot be read: {error}") from None


def _sentence(cls: type[BaseSettings], detail: dict[str, Any]) -> str:
    name = str(detail["loc"][0]) if detail["loc"] else cls.__name__
    return f"{name} (PGS_{name.upper()}) is out of range: {detail['msg'].lower()}"


def _origins(given: dict[str, Any]) -> dict[str, Origin]:
    file_values, customary = _file_values(), _customary_values()
    origins: dict[str, Origin] = {}
    for name in (*Settings.model_fields, *PGSConfig.model_fields):
        if name in given:
            origins[name] = "call"
        elif os.environ.get(f"PGS_{name.upper()}"):
            origins[name] = "environment"
        elif name in file_values:
            origins[name] = "file"
        else:
            origins[name] = "environment" if name in customary else "default"
    return origins


def _check_name(name: str, where: str) -> None:
    known = [*Settings.model_fields, *PGSConfig.model_fields]
    if name not in known:
        raise ConfigError(_unknown(name, where, known))


def _unknown(name: str, where: str, known: list[str]) -> str:
    near = difflib.get_close_matches(name, known, n=1)
    hint = f"; did you mean {near[0]}?" if near else "; 'pgs config show' lists all settings"
    return f"{where} sets {name}, which is not a setting{hint}"
