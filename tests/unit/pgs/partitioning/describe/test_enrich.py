"""Keywords, summaries, and centroids, from texts as they are read."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from pgs_neo4j.model import GraphMapping
from pgs_neo4j.pgs.partitioning.describe import enrich
from pgs_neo4j.pgs.partitioning.describe.enrich import (
    DIGEST_TEXT,
    SUMMARY_TEXT,
    PartitionTexts,
    TextReader,
    describe,
    summarize,
)
from pgs_neo4j.pgs.partitioning.describe.indexing import MemberText
from pgs_neo4j.pgs.partitioning.membership import Membership
from pgs_neo4j.search.space import Space
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
