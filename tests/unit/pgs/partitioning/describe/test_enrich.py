"""Keywords, summaries, and centroids, from texts and their words as they are read."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest

from pgs_neo4j.llm.embedders.hashing import HashingEmbedder
from pgs_neo4j.model import GraphMapping
from pgs_neo4j.pgs.partitioning.describe import enrich
from pgs_neo4j.pgs.partitioning.describe.enrich import (
    DIGEST_TEXT,
    SUMMARY_TEXT,
    PartitionTexts,
    TextReader,
    WordReader,
    describe,
    summarize,
    word_hasher,
)
from pgs_neo4j.pgs.partitioning.describe.indexing import MemberText, SegmentWriter
from pgs_neo4j.pgs.partitioning.membership import Membership
from pgs_neo4j.search.space import Space
from pgs_neo4j.text.terms import postings
from pgs_neo4j.text.terms.keywords import KeywordCounter
from tests.fakes.database import FakeDatabase
from tests.fakes.embedders import ScriptedEmbedder
from tests.unit.pgs.partitioning.conftest import build_order, build_tools, ints, partition, view_of

# Partition 1 holds 1 and 2, heaviest 2; partition 2 holds 3.
MEMBERS = Membership(ints(1, 2, 3), ints(1, 1, 2), ints(1, 0, 0), ints(0, 0, 0), ints(0, 0, 0))
TEXTS = {1: "glaciers melt", 2: "glaciers grow", 3: "courts decide"}
VIEW = view_of([1, 2, 3])
ORDER = build_order()


def read_texts(params: dict[str, Any]) -> list[dict[str, Any]]:
    ids = params["ids"]
    titles: list[list[Any]] = [[None] for _ in ids]
    return [{"ids": ids, "titles": titles, "texts": [[TEXTS[i]] for i in ids]}]


def test_the_summary_is_the_first_keywords_and_the_heaviest_text() -> None:
    words = ("a", "b", "c", "d", "e", "f")
    assert summarize(words, "Ice melts.") == "a, b, c, d, e. Ice melts."
    assert summarize((), "Ice melts.") == "Ice melts."
    assert summarize(words[:1], "") == "a"
    assert len(summarize((), "x " * SUMMARY_TEXT)) <= SUMMARY_TEXT + 1


def test_the_heaviest_text_is_the_first_and_the_digest_is_bounded() -> None:
    texts = PartitionTexts()
    for number in range(50):
        texts.add_text(f"text {number} " + "word " * 400)
    assert texts.heaviest.startswith("text 0 ")
    assert texts.digest.startswith("text 0 ")
    assert len(texts.digest) <= DIGEST_TEXT * 1.3


class Indexed:
    """Remembers what is to be indexed."""

    def __init__(self) -> None:
        self.added: list[tuple[int, list[str]]] = []

    async def add(self, partition_id: int, members: Iterable[MemberText]) -> None:
        self.added.append((partition_id, [one.whole for one in members]))

    async def flush(self) -> None: ...


async def test_texts_are_embedded_in_batches_and_counted_by_partition(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(enrich, "EMBED_BATCH", 2)
    embedder = ScriptedEmbedder()
    texts = {1: PartitionTexts(), 2: PartitionTexts()}
    index = Indexed()
    reader = TextReader(Space("texts", embedder), texts, index)  # type: ignore[arg-type]
    await reader.take([MemberText(1, "", text) for text in ("a", "b b", "c")])
    await reader.take([MemberText(1, "Empty", ""), MemberText(2, "Last", "d")])
    await reader.end()
    assert index.added == [(1, ["a", "b b", "c"]), (1, ["Empty\n"]), (2, ["Last\nd"])]
    assert embedder.calls == [["a", "b b"], ["c", "d"]]
    assert (texts[1].count, texts[2].count) == (3, 1)
    assert texts[1].heaviest == "a"


async def test_only_the_texts_of_wanted_partitions_are_read() -> None:
    tools = build_tools(read_texts=read_texts)
    described, common = await describe(
        ORDER, tools, VIEW, MEMBERS, [partition(2, 1)], [partition(1, 2)], ("data",)
    )
    db: Any = tools.db
    assert [params["ids"] for params in db.params("read_texts")] == [[3]]
    assert [part.id for part in described] == [2]
    assert common == {"data"}


async def test_without_mapped_text_partitions_have_no_words() -> None:
    order = build_order(mapping=GraphMapping(text=()))
    described, _ = await describe(order, build_tools(), VIEW, MEMBERS, [partition(1, 2)])
    assert (described[0].keywords, described[0].summary) == ((), "")


async def test_a_digest_per_partition_is_embedded_in_one_call() -> None:
    embedder = ScriptedEmbedder()
    tools = build_tools(space=Space("digests", embedder), read_texts=read_texts)
    parts = [partition(1, 2), partition(2, 1)]
    described, _ = await describe(ORDER, tools, VIEW, MEMBERS, parts)
    ((first, second),) = embedder.calls
    assert first.splitlines()[1:] == ["glaciers grow", "glaciers melt"]
    assert "courts" in second.splitlines()[0]
    assert all(part.centroid is not None for part in described)


WORDY = [
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
    await reader.take(WORDY[:2])
    await reader.take(WORDY[2:])
    await reader.end()
    return seen, counter


@pytest.mark.parametrize("size", [1 << 20, 200, 20])
async def test_centroids_are_means_of_what_the_embedder_returns(
    monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    monkeypatch.setattr(postings, "BATCH", size)
    embedder = HashingEmbedder()
    seen, _ = await read(Space("texts", embedder))
    for number, texts in seen.items():
        own = [one.text for one in WORDY if one.partition_id == number and one.text]
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
