from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from pgs_neo4j.errors import ConfigError, EmbeddingError
from pgs_neo4j.graph.vectors import unit
from pgs_neo4j.llm.embedders.pieces import join_pieces, weigh
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
        self.given = texts
        if callable(self.spoil):
            return self.spoil(texts)
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


class Limited(FakeModel):
    """Reads some tokens of a text, of which it has one a word and two around them."""

    max_seq_length = 64

    def tokenizer(self, text: str, **options: bool) -> dict[str, list[str]]:
        assert options == {"truncation": False, "verbose": False}
        return {"input_ids": ["[CLS]", *text.split(), "[SEP]"]}


class Untold(FakeModel):
    """Says how much it reads, and not what tokens are."""

    max_seq_length = 64


@pytest.mark.parametrize("kind", [Limited, Untold])
async def test_a_text_longer_than_its_model_reads_is_embedded_in_pieces(
    package: type[FakeModel], monkeypatch: pytest.MonkeyPatch, kind: type[FakeModel]
) -> None:
    monkeypatch.setattr(sys.modules["sentence_transformers"], "SentenceTransformer", kind)
    text = "kiln " * 500
    embedder = SentenceTransformersEmbedder("some/model")
    rows = await embedder.embed(["slip", text, "x" * 63])
    first, *pieces, last = embedder._model.given
    assert (first, last, "".join(pieces)) == ("slip", "x" * 63, text)
    assert max(len(piece.split()) for piece in pieces) <= 62
    mean = join_pieces(
        [*unit(np.array([[len(one), 1.0, 2.0] for one in pieces]))],
        [weigh(piece) for piece in pieces],
    )
    assert np.allclose(rows[1], mean, atol=1e-6)


class Dense(FakeModel):
    """Has a token for each character, as models have of scripts that they do not know."""

    max_seq_length = 32

    def tokenizer(self, text: str, **_: bool) -> dict[str, list[str]]:
        return {"input_ids": ["[CLS]", *text, "[SEP]"]}


async def test_a_short_text_of_many_tokens_is_embedded_in_pieces_and_else_fails(
    package: type[FakeModel], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.modules["sentence_transformers"], "SentenceTransformer", Dense)
    embedder = SentenceTransformersEmbedder("some/model")
    for text in ("ช่างปั้นหม้อ" * 8, "7%" * 60, "x" * 31):
        assert (await embedder.embed([text])).any()
        assert "".join(embedder._model.given) == text
        assert max(map(len, embedder._model.given)) <= 30
    monkeypatch.setattr(Dense, "max_seq_length", 2)  # no room beside what stands around a text
    with pytest.raises(EmbeddingError, match="reads too little"):
        await embedder.embed(["some text"])


@pytest.mark.parametrize("nothing", [0.0, np.nan, np.inf])
async def test_one_vector_that_is_none_costs_one_text(
    package: type[FakeModel], monkeypatch: pytest.MonkeyPatch, nothing: float
) -> None:
    def spoil(texts: list[str]) -> Any:
        return np.array([[nothing] * 3 if text == "bad" else [1.0, 2.0, 2.0] for text in texts])

    monkeypatch.setattr(package, "spoil", staticmethod(spoil))
    rows = await SentenceTransformersEmbedder("m").embed(["x", "bad", "y"])
    assert np.allclose(rows, [[1 / 3, 2 / 3, 2 / 3], [0, 0, 0], [1 / 3, 2 / 3, 2 / 3]])


@pytest.mark.parametrize(
    "spoiled", [np.ones((1, 3)), np.full((2, 3), np.nan), np.zeros((2, 3)), np.ones(2)]
)
async def test_vectors_that_are_none_are_refused(
    package: type[FakeModel], monkeypatch: pytest.MonkeyPatch, spoiled: Any
) -> None:
    monkeypatch.setattr(package, "spoil", spoiled)
    with pytest.raises(EmbeddingError, match="a usable vector for each text"):
        await SentenceTransformersEmbedder("m").embed(["x", "y"])
