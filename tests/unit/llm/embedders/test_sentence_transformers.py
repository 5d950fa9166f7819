from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from pgs_neo4j.errors import ConfigError, EmbeddingError
from pgs_neo4j.llm.embedders.sentence_transformers import SentenceTransformersEmbedder
from pgs_neo4j.llm.protocol import Embedder


class FakeModel:
    loaded: list[str] = []  # noqa: RUF012 - shared on purpose
    dimensions = 3
    spoil: Any = None

    def __init__(self, name: str) -> None:
        if name == "missing":
            raise OSError("no such model")
        self.loaded.append(name)

    def get_sentence_embedding_dimension(self) -> int:
        return self.dimensions

    def encode(self, texts: list[str], **options: bool) -> Any:
        assert options == {"convert_to_numpy": True, "show_progress_bar": False}
        if self.spoil is not None:
            return self.spoil
        return np.array([[len(text), 1.0, 2.0] for text in texts])


@pytest.fixture
def package(monkeypatch: pytest.MonkeyPatch) -> type[FakeModel]:
    module = ModuleType("sentence_transformers")
    module.SentenceTransformer = FakeModel  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "sentence_transformers", module)
    monkeypatch.setattr(FakeModel, "loaded", [])
    return FakeModel


async def test_loads_once_and_returns_unit_rows(package: type[FakeModel]) -> None:
    embedder = SentenceTransformersEmbedder("some/model")
    assert isinstance(embedder, Embedder)
    assert package.loaded == []
    rows = await embedder.embed(["ab", " "])
    assert np.allclose(rows, [[2 / 3, 1 / 3, 2 / 3], [0, 0, 0]])
    assert rows.dtype == np.float32
    assert (await embedder.embed([])).shape == (0, 3)
    assert package.loaded == ["some/model"]
    assert (embedder.name, embedder.dimensions) == ("sentence-transformers/some/model", 3)
    await embedder.close()


async def test_a_missing_package_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(ConfigError, match=r"pip install 'pgs-neo4j\[sentence-transformers\]'"):
        await SentenceTransformersEmbedder().embed(["x"])


@pytest.mark.usefixtures("package")
async def test_a_missing_model_is_named() -> None:
    with pytest.raises(EmbeddingError, match="model missing cannot be loaded"):
        await SentenceTransformersEmbedder("missing").embed(["x"])


@pytest.mark.parametrize("spoiled", [np.ones((1, 3)), np.full((2, 3), np.nan), np.ones(2)])
async def test_vectors_that_are_none_are_refused(
    package: type[FakeModel], monkeypatch: pytest.MonkeyPatch, spoiled: Any
) -> None:
    monkeypatch.setattr(package, "spoil", spoiled)
    with pytest.raises(EmbeddingError, match="one finite vector per text"):
        await SentenceTransformersEmbedder("m").embed(["x", "y"])
