"""Adapters need an extra, and say so."""

from __future__ import annotations

import subprocess
import sys

import pytest

from pgs_neo4j import adapters
from pgs_neo4j.errors import ConfigError


def test_a_missing_package_is_told_with_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("neo4j_graphrag", "neo4j_graphrag.retrievers.base"):
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.delitem(sys.modules, "pgs_neo4j.adapters.graphrag", raising=False)
    monkeypatch.delattr(adapters, "graphrag", raising=False)
    with pytest.raises(ConfigError, match=r"pip install 'pgs-neo4j\[neo4j-graphrag\]'"):
        _ = adapters.PGSRetriever


def test_there_is_no_other_name() -> None:
    without_library = {"FindingQuery", "GraphRAGEmbedder", "GraphRAGModel"}
    assert {"PGSDocuments", "PGSFindingsRetriever", "PGSRetriever"} < {*adapters.__all__}
    assert {"GlinerExtractor", "SpacyExtractor"} < {*adapters.__all__}
    assert all(getattr(adapters, name) for name in without_library)
    with pytest.raises(AttributeError, match="no attribute 'Retriever'"):
        _ = adapters.Retriever  # type: ignore[attr-defined]


def test_the_package_itself_needs_no_adapter() -> None:
    code = "import sys, pgs_neo4j.adapters, pgs_neo4j.engine; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    libraries = {"neo4j_graphrag", "langchain_core", "spacy", "gliner", "anywidget"}
    assert not libraries & {*done.stdout.split()}
