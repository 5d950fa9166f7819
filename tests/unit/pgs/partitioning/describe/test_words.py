"""Keywords and vectors from the words that the index was made of."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pgs_neo4j.llm.embedders.hashing import HashingEmbedder
from pgs_neo4j.pgs.partitioning.describe.enrich import (
    PartitionTexts,
    TextReader,
    WordReader,
    word_hasher,
)
from pgs_neo4j.pgs.partitioning.describe.indexing import MemberText, SegmentWriter
from pgs_neo4j.search.space import Space
from pgs_neo4j.text.terms import batches
from pgs_neo4j.text.terms.keywords import KeywordCounter
from tests.fakes.database import FakeDatabase

MEMBERS = [
    MemberText(
        1, "Glaciers", "Ice melts; see <b>glaciers</b> at https://ice.example and maxRetries"
    ),
    MemberText(1, "", "ﬁne ice, straße"),
    MemberText(1, "Only a title", ""),
    MemberText(2, "氷河", "日本語のテキスト about ice"),
    MemberText(2, "", ""),
    MemberText(3, "Long", "courts decide and " * 40),
    MemberText(3, "", "a court"),
    MemberText(4, "", ""),
]


async def read(space: Space) -> tuple[dict[int, PartitionTexts], KeywordCounter]:
    """Read all members in two portions."""
    seen = {number: PartitionTexts() for number in (1, 2, 3, 4)}
    counter = KeywordCounter()
    words = WordReader(counter, seen, word_hasher(space))
    db: Any = FakeDatabase(
        write_postings=lambda params: [{"written": len(params["cells"])}],
        write_segments=lambda params: [{"indexed": len(params["partitions"])}],
    )
    uids = {number: str(number) for number in seen}
    reader = TextReader(space, seen, SegmentWriter(db, "g", "g1", uids, 40.0, words.use))
    await reader.take(MEMBERS[:2])
    await reader.take(MEMBERS[2:])
    await reader.end()
    return seen, counter


@pytest.mark.parametrize("size", [1 << 20, 200, 20])
async def test_centroids_are_means_of_what_the_embedder_returns(
    monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    monkeypatch.setattr(batches, "BATCH", size)
    embedder = HashingEmbedder()
    seen, _ = await read(Space("texts", embedder))
    for number, texts in seen.items():
        own = [one.text for one in MEMBERS if one.partition_id == number and one.text]
        assert texts.count == len(own)
        if own:
            mean = (await embedder.embed(own)).mean(axis=0)
            assert texts.mean is not None
            assert np.allclose(texts.mean, mean, atol=1e-6)
        else:
            assert texts.mean is None


@pytest.mark.parametrize("kind", ["none", "stored", "digests"])
async def test_without_vectors_of_texts_nothing_is_summed(kind: Any) -> None:
    seen, counter = await read(Space(kind, HashingEmbedder()))
    assert [texts.mean for texts in seen.values()] == [None] * 4
    assert counter.counts()[1]["glaciers"] == 1
