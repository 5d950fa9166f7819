from __future__ import annotations

import numpy as np
import pytest

from pgs_neo4j.config import HASHING_THRESHOLD
from pgs_neo4j.errors import ConfigError
from pgs_neo4j.llm.embedders import hashing
from pgs_neo4j.llm.embedders.hashing import HashingEmbedder
from pgs_neo4j.llm.protocol import Embedder


async def test_rows_are_unit_float32_and_zero_without_content() -> None:
    embedder = HashingEmbedder()
    assert isinstance(embedder, Embedder)
    rows = await embedder.embed(["sockets and events", "the of and", "", "events"])
    assert rows.shape == (4, 2048)
    assert rows.dtype == np.float32
    assert np.allclose(np.linalg.norm(rows, axis=1), [1, 0, 0, 1])


async def test_no_texts_give_no_rows() -> None:
    assert (await HashingEmbedder(64).embed([])).shape == (0, 64)


async def test_values_are_the_same_on_every_machine_and_run() -> None:
    [row] = await HashingEmbedder(8).embed(["socket"])
    expected = [0.0, 0.0, -0.9325, 0.2085, 0.0, 0.2085, -0.2085, 0.0]
    assert np.allclose(row, expected, atol=1e-3)


async def test_shared_vocabulary_is_nearer_than_none() -> None:
    texts = ["parsing of XML documents", "The XML parser reads a document.", "A mutex for threads"]
    rows = await HashingEmbedder().embed(texts)
    near, far = float(rows[0] @ rows[1]), float(rows[0] @ rows[2])
    assert near > 0.5
    assert abs(far) < 0.15


async def test_batches_do_not_change_the_result(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [f"node {i} about sockets number{i}" for i in range(25)]
    whole = await HashingEmbedder().embed(texts)
    monkeypatch.setattr(hashing, "BATCH", 4)
    assert np.array_equal(whole, await HashingEmbedder().embed(texts))


def test_name_tells_the_space_and_the_threshold_is_its_own() -> None:
    assert HashingEmbedder(256).name == "hashing-256"
    assert HashingEmbedder().threshold == HASHING_THRESHOLD
    assert HashingEmbedder().dimensions == 2048


def test_too_few_dimensions_are_refused_by_name() -> None:
    with pytest.raises(ConfigError, match="PGS_EMBEDDING_DIMENSIONS"):
        HashingEmbedder(4)
