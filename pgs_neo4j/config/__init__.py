"""Declares each setting and knob once, with its sources and bounds."""

from __future__ import annotations

from pgs_neo4j.config.addresses import MASK, OPENAI_URL, masked_address
from pgs_neo4j.config.declaration import Declaration, NoneAllowed, declarations
from pgs_neo4j.config.knob_types import Knobs, SettingsOverrides
from pgs_neo4j.config.knobs import HASHING_THRESHOLD, SHAPING, Algorithm, PGSConfig
from pgs_neo4j.config.loading import (
    Loaded,
    Origin,
    load,
    lower_limit,
    restored,
    stored,
    with_overrides,
)
from pgs_neo4j.config.notices import notices, unknown_variables
from pgs_neo4j.config.provenance import Provenance, Source, config_file, user_config_folder
from pgs_neo4j.config.search_table import CONTEXT_TOKENS, SEARCH_KEYS, SearchDefaults
from pgs_neo4j.config.settings import ADDRESSES, EmbedderName, Provider, Settings
from pgs_neo4j.config.token_table import TokenEntry
from pgs_neo4j.config.trust import (
    ModelAccess,
    ServerAccess,
    embedding_model,
    explain_key,
    model_access,
    rerank_access,
    secrets,
    server_access,
    trusted_code_name,
    trusted_tokens,
)

__all__ = [
    "ADDRESSES",
    "CONTEXT_TOKENS",
    "HASHING_THRESHOLD",
    "MASK",
    "OPENAI_URL",
    "SEARCH_KEYS",
    "SHAPING",
    "Algorithm",
    "Declaration",
    "EmbedderName",
    "Knobs",
    "Loaded",
    "ModelAccess",
    "NoneAllowed",
    "Origin",
    "PGSConfig",
    "Provenance",
    "Provider",
    "SearchDefaults",
    "ServerAccess",
    "Settings",
    "SettingsOverrides",
    "Source",
    "TokenEntry",
    "config_file",
    "declarations",
    "embedding_model",
    "explain_key",
    "load",
    "lower_limit",
    "masked_address",
    "model_access",
    "notices",
    "rerank_access",
    "restored",
    "secrets",
    "server_access",
    "stored",
    "trusted_code_name",
    "trusted_tokens",
    "unknown_variables",
    "user_config_folder",
    "with_overrides",
]
