"""Adapters need an extra, and say so."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable

import pytest

from pgs_neo4j import adapters
from pgs_neo4j.errors import ConfigError
from tests.fakes.frameworks import GRAPHRAG, LANGCHAIN


@pytest.mark.parametrize(
    ("name", "home", "libraries", "extra"),
    [
        ("PGSRetriever", "graphrag", GRAPHRAG, "neo4j-graphrag"),
        ("PGSFindingsRetriever", "graphrag", GRAPHRAG, "neo4j-graphrag"),
        ("PGSDocuments", "langchain", LANGCHAIN, "langchain"),
        ("map_widget", "notebook", ["anywidget"], "notebook"),
    ],
)
def test_a_missing_library_is_told_with_its_extra(
    name: str, home: str, libraries: Iterable[str], extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for library in libraries:
        monkeypatch.setitem(sys.modules, library, None)
    monkeypatch.delitem(sys.modules, f"pgs_neo4j.adapters.{home}", raising=False)
    monkeypatch.delattr(adapters, home, raising=False)
    with pytest.raises(ConfigError, match=rf"{name} needs.*pip install 'pgs-neo4j\[{extra}\]'"):
        getattr(adapters, name)


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
