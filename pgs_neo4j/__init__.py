"""Partitioned Graph Synthesis on Neo4j: read everything that matters, and cite it.

``PGS`` is the engine. Values are in ``pgs_neo4j.model``, errors in ``pgs_neo4j.errors``,
events in ``pgs_neo4j.events``; a model for tests is ``pgs_neo4j.llm.scripted.ScriptedLLM``.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pgs_neo4j.config import PGSConfig, Settings
    from pgs_neo4j.engine import PGS, Request
    from pgs_neo4j.errors import PGSError
    from pgs_neo4j.model import Answer, Coverage, GraphMapping, Partition, Sweep, Synthesis

__version__ = "0.1.0"
__all__ = [
    "PGS",
    "Answer",
    "Coverage",
    "GraphMapping",
    "PGSConfig",
    "PGSError",
    "Partition",
    "Request",
    "Settings",
    "Sweep",
    "Synthesis",
    "__version__",
]

_HOMES = {
    "PGS": "engine",
    "Request": "engine",
    "PGSConfig": "config",
    "Settings": "config",
    "PGSError": "errors",
    "Answer": "model",
    "Coverage": "model",
    "GraphMapping": "model",
    "Partition": "model",
    "Sweep": "model",
    "Synthesis": "model",
}


def __getattr__(name: str) -> Any:
    # Lazy, so that `pgs --help` does not import numpy and the driver.
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
