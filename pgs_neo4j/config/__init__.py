"""Settings and knobs: where each value comes from, and its bounds."""

from __future__ import annotations

from pgs_neo4j.config.settings import (
    ADDRESSES,
    MASK,
    Algorithm,
    EmbedderName,
    Loaded,
    NoneAllowed,
    Origin,
    PGSConfig,
    Provider,
    Settings,
    config_file,
    load,
    masked_address,
    restored,
    stored,
    with_overrides,
)

__all__ = [
    "ADDRESSES",
    "MASK",
    "Algorithm",
    "EmbedderName",
    "Loaded",
    "NoneAllowed",
    "Origin",
    "PGSConfig",
    "Provider",
    "Settings",
    "config_file",
    "load",
    "masked_address",
    "restored",
    "stored",
    "with_overrides",
]
