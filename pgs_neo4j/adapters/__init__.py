"""Adapters to other libraries: they search with this package, or extract for it.

Each needs a package that need not be installed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pgs_neo4j.errors import ConfigError

if TYPE_CHECKING:
    from pgs_neo4j.adapters.gliner import GlinerExtractor
    from pgs_neo4j.adapters.graphrag import PGSRetriever
    from pgs_neo4j.adapters.spacy import SpacyExtractor

__all__ = ["GlinerExtractor", "PGSRetriever", "SpacyExtractor"]


def __getattr__(name: str) -> object:
    # Lazy, because neo4j-graphrag need not be installed.
    if name == "SpacyExtractor":
        from pgs_neo4j.adapters.spacy import SpacyExtractor

        return SpacyExtractor
    if name == "GlinerExtractor":
        from pgs_neo4j.adapters.gliner import GlinerExtractor

        return GlinerExtractor
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
