"""Adapters to other libraries, for retrieval, entity extraction, language models, and maps.

Each adapter needs an optional package.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from pgs_neo4j.errors import ConfigError

if TYPE_CHECKING:
    from pgs_neo4j.adapters.findings import FindingQuery
    from pgs_neo4j.adapters.gliner import GlinerExtractor
    from pgs_neo4j.adapters.graphrag import PGSFindingsRetriever, PGSRetriever
    from pgs_neo4j.adapters.graphrag_models import GraphRAGEmbedder, GraphRAGModel
    from pgs_neo4j.adapters.langchain import PGSDocuments
    from pgs_neo4j.adapters.notebook import MapWidget, map_widget
    from pgs_neo4j.adapters.spacy import SpacyExtractor

__all__ = [
    "FindingQuery",
    "GlinerExtractor",
    "GraphRAGEmbedder",
    "GraphRAGModel",
    "MapWidget",
    "PGSDocuments",
    "PGSFindingsRetriever",
    "PGSRetriever",
    "SpacyExtractor",
    "map_widget",
]

_HOMES = {
    "FindingQuery": "findings",
    "GlinerExtractor": "gliner",
    "GraphRAGEmbedder": "graphrag_models",
    "GraphRAGModel": "graphrag_models",
    "MapWidget": "notebook",
    "PGSDocuments": "langchain",
    "PGSFindingsRetriever": "graphrag",
    "PGSRetriever": "graphrag",
    "SpacyExtractor": "spacy",
    "map_widget": "notebook",
}
_EXTRAS = {
    "neo4j_graphrag": ("neo4j-graphrag", "neo4j-graphrag"),
    "langchain_core": ("langchain-core", "langchain"),
    "anywidget": ("anywidget", "notebook"),
}
"""Maps the import name of a library to its package and to the extra that installs it."""


def __getattr__(name: str) -> object:
    # Imported only when needed, because the libraries are optional.
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        module = import_module(f"{__name__}.{_HOMES[name]}")
    except ModuleNotFoundError as error:
        package, extra = _EXTRAS.get((error.name or "").split(".")[0], ("", ""))
        if not package:
            raise
        raise ConfigError(
            f"{name} needs the package {package}; install pgs-neo4j with its extra: "
            f"pip install 'pgs-neo4j[{extra}]'"
        ) from error
    return getattr(module, name)
