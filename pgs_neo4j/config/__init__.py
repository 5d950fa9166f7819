"""Settings and knobs: each declared once, with its sources and bounds."""

from __future__ import annotations

from pgs_neo4j.config.declaration import Declaration, NoneAllowed, declarations
from pgs_neo4j.config.knob_types import Knobs, SettingsOverrides
from pgs_neo4j.config.knobs import SHAPING, Algorithm, PGSConfig
from pgs_neo4j.config.loading import Loaded, Origin, load, restored, stored, with_overrides
from pgs_neo4j.config.settings import ADDRESSES, EmbedderName, Provider, Settings
from pgs_neo4j.config.sources import MASK, config_file, masked_address

__all__ = [
    "ADDRESSES",
    "MASK",
    "SHAPING",
    "Algorithm",
    "Declaration",
    "EmbedderName",
    "Knobs",
    "Loaded",
    "NoneAllowed",
    "Origin",
    "PGSConfig",
    "Provider",
    "Settings",
    "SettingsOverrides",
    "config_file",
    "declarations",
    "load",
    "masked_address",
    "restored",
    "stored",
    "with_overrides",
]
