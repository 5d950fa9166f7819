"""Adapters that let other libraries search with this package; each needs an extra."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pgs_neo4j.errors import ConfigError

if TYPE_CHECKING:
    from pgs_neo4j.adapters.graphrag import PGSRetriever

__all__ = ["PGSRetriever"]


def __getattr__(name: str) -> object:
    # Lazy, because neo4j-graphrag need not be installed.
    if name != "PGSRetriever":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        from pgs_neo4j.adapters import graphrag
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] != "neo4j_graphrag":
            raise
        raise ConfigError(
            "PGSRetriever needs the package neo4j-graphrag; install pgs-neo4j with its extra: "
            "pip install 'pgs-neo4j[neo4j-graphrag]'"
        ) from error
    return graphrag.PGSRetriever
