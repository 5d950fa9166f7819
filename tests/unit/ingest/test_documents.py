"""Files compared with the documents of a graph: which are written, and what is said of others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pgs_neo4j.graph.hashes import digest
from pgs_neo4j.ingest.documents import Compared, WantedDocument, compare, title_of
from pgs_neo4j.ingest.order import IngestOrder
from pgs_neo4j.ingest.sources import find_sources
from pgs_neo4j.ingest.stored import StoredDocument
from pgs_neo4j.text.chunking import ChunkRules

RIVER, CITY = "The Seine flows.\n", "Paris is a city.\n"
SMALL = ChunkRules(strategy="content", size=8, overlap=0)


def write(folder: Path, **texts: str) -> None:
    for name, text in texts.items():
        (folder / f"{name}.md").write_text(text)


def order_of(folder: Path, **given: Any) -> IngestOrder:
    return IngestOrder(graph="docs", label="Docs", sources=find_sources([folder]), **given)


def stored_of(text: str, name: str, **given: Any) -> dict[str, StoredDocument]:
    """A document as it stands after its file had this text."""
    one = StoredDocument(
        id=f"{name}.md", hash=digest(text), rules=ChunkRules().signature, signature="s1",
        chunks=1, name=f"{name}.md", size=len(text), label="Docs",
    )  # fmt: skip
    return {one.id: replace(one, **given)}


def compared(
    order: IngestOrder, stored: Mapping[str, StoredDocument], signature: str = "s1"
) -> tuple[Compared, list[WantedDocument]]:
    comparison, wanted = compare(order, stored, signature)
    return comparison, [*wanted]


def states(comparison: Compared) -> dict[str, str]:
    return {one.id: one.state for one in comparison.outcomes}


def test_a_file_as_its_document_is_unchanged_and_not_divided(tmp_path: Path) -> None:
    write(tmp_path, river=RIVER)
    stored = stored_of(RIVER, "river", chunks=3)
    comparison, wanted = compared(order_of(tmp_path), stored)
    (outcome,) = comparison.outcomes
    assert (outcome.id, outcome.state, outcome.chunks) == ("river.md", "unchanged", 3)
    assert (outcome.extracted, wanted, comparison.missing) == (0, [], {})


def test_a_new_file_is_added_with_its_size_and_hash(tmp_path: Path) -> None:
    write(tmp_path, river=RIVER)
    comparison, (one,) = compared(order_of(tmp_path), {})
    assert (one.id, one.state, one.former) == ("river.md", "added", ("river.md",))
    assert (one.size, one.hash) == (len(RIVER), digest(RIVER))
    assert [chunk.chunk.text for chunk in one.chunks] == [RIVER]
    assert comparison.outcomes == []


def test_a_file_with_another_text_is_changed(tmp_path: Path) -> None:
    write(tmp_path, river=CITY)
    _, (one,) = compared(order_of(tmp_path), stored_of(RIVER, "river"))
    assert (one.state, one.former, one.hash) == ("changed", ("river.md",), digest(CITY))


def test_another_line_ending_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "river.md").write_bytes(RIVER.replace("\n", "\r\n").encode())
    comparison, wanted = compared(order_of(tmp_path), stored_of(RIVER, "river"))
    assert (states(comparison), wanted) == ({"river.md": "unchanged"}, [])


def test_a_file_with_the_text_of_one_that_is_gone_is_moved(tmp_path: Path) -> None:
    write(tmp_path, stream=RIVER)
    comparison, (one,) = compared(order_of(tmp_path), stored_of(RIVER, "river"))
    assert (one.state, one.former) == ("moved", ("stream.md", "river.md"))
    assert comparison.missing == {}


def test_a_copy_of_a_file_that_is_still_there_is_added(tmp_path: Path) -> None:
    write(tmp_path, river=RIVER, copy=RIVER)
    comparison, (one,) = compared(order_of(tmp_path), stored_of(RIVER, "river"))
    assert (one.id, one.state, one.former) == ("copy.md", "added", ("copy.md",))
    assert states(comparison) == {"river.md": "unchanged"}


def test_a_document_moves_to_one_of_two_equal_files(tmp_path: Path) -> None:
    write(tmp_path, first=RIVER, second=RIVER)
    _, (first, second) = compared(order_of(tmp_path), stored_of(RIVER, "river"))
    assert (first.state, first.former) == ("moved", ("first.md", "river.md"))
    assert (second.state, second.former) == ("added", ("second.md",))


def test_two_equal_documents_move_in_the_order_of_their_ids(tmp_path: Path) -> None:
    write(tmp_path, x=RIVER, y=RIVER)
    stored = stored_of(RIVER, "b") | stored_of(RIVER, "a") | stored_of(RIVER, "c")
    comparison, wanted = compared(order_of(tmp_path), stored)
    assert [one.former for one in wanted] == [("x.md", "a.md"), ("y.md", "b.md")]
    assert [*comparison.missing] == ["c.md"]


def test_a_changed_file_does_not_take_over_a_document_that_is_gone(tmp_path: Path) -> None:
    write(tmp_path, city=RIVER)
    stored = stored_of(CITY, "city") | stored_of(RIVER, "river")
    comparison, (one,) = compared(order_of(tmp_path), stored)
    assert (one.state, one.former) == ("changed", ("city.md",))
    assert [*comparison.missing] == ["river.md"]


def test_what_another_model_extracted_is_stale_until_it_is_refreshed(tmp_path: Path) -> None:
    write(tmp_path, river=RIVER)
    stored = stored_of(RIVER, "river")
    comparison, wanted = compared(order_of(tmp_path), stored, "s2")
    assert (states(comparison), wanted) == ({"river.md": "stale"}, [])
    comparison, (one,) = compared(order_of(tmp_path, refresh=True), stored, "s2")
    assert (one.state, comparison.outcomes) == ("changed", [])


def test_a_refresh_leaves_alone_what_the_same_model_extracted(tmp_path: Path) -> None:
    write(tmp_path, river=RIVER)
    comparison, wanted = compared(order_of(tmp_path, refresh=True), stored_of(RIVER, "river"))
    assert (states(comparison), wanted) == ({"river.md": "unchanged"}, [])


def test_other_rules_divide_a_document_again(tmp_path: Path) -> None:
    text = "".join(f"Sentence number {number} is here.\n\n" for number in range(12))
    write(tmp_path, long=text)
    stored = stored_of(text, "long")
    _, (one,) = compared(order_of(tmp_path, rules=SMALL), stored)
    assert one.state == "changed"
    assert len(one.chunks) > 1
    assert "".join(chunk.chunk.text for chunk in one.chunks) == text
    again = stored_of(text, "long", rules=SMALL.signature)
    comparison, wanted = compared(order_of(tmp_path, rules=SMALL), again)
    assert (states(comparison), wanted) == ({"long.md": "unchanged"}, [])


def test_equal_chunks_of_a_document_have_ids_of_their_own(tmp_path: Path) -> None:
    write(tmp_path, refrain="The same sentence stands here again.\n\n" * 6)
    _, (one,) = compared(order_of(tmp_path, rules=SMALL), {})
    ids = [chunk.id for chunk in one.chunks]
    assert len(ids) == len({*ids}) > 2
    by_text: dict[str, list[str]] = {}
    for chunk in one.chunks:
        by_text.setdefault(chunk.chunk.text, []).append(chunk.id)
    for text_ids in by_text.values():
        first = text_ids[0]
        assert text_ids == [first, *(f"{first}-{n}" for n in range(2, len(text_ids) + 1))]
    assert max(len(text_ids) for text_ids in by_text.values()) > 1


def test_a_chunk_keeps_its_id_and_key_when_another_part_is_edited(tmp_path: Path) -> None:
    parts = [f"Part {number} tells a story of its own.\n\n" for number in range(9)]
    write(tmp_path, story="".join(parts))
    _, (before,) = compared(order_of(tmp_path, rules=SMALL), {})
    write(tmp_path, story="".join([*parts[:-1], "The end is another one now.\n\n"]))
    _, (after,) = compared(order_of(tmp_path, rules=SMALL), {})
    assert before.chunks[0].id == after.chunks[0].id
    assert before.chunks[0].extraction_key == after.chunks[0].extraction_key
    assert before.chunks[-1].id != after.chunks[-1].id


def test_an_extraction_rests_on_model_and_text_but_not_on_the_file(tmp_path: Path) -> None:
    write(tmp_path, a=RIVER, b=RIVER, c=CITY)
    _, (a, b, c) = compared(order_of(tmp_path), {})
    assert a.chunks[0].id != b.chunks[0].id
    assert a.chunks[0].extraction_key == b.chunks[0].extraction_key
    assert a.chunks[0].extraction_key != c.chunks[0].extraction_key
    _, (other, *_) = compared(order_of(tmp_path), {}, "s2")
    assert other.chunks[0].extraction_key != a.chunks[0].extraction_key
    assert other.chunks[0].id == a.chunks[0].id


def test_a_file_that_cannot_be_read_is_told_and_its_document_stays(tmp_path: Path) -> None:
    write(tmp_path, empty=" \n", large=RIVER * 9, river=RIVER)
    stored = stored_of(RIVER, "empty")
    comparison, (one,) = compared(order_of(tmp_path, most_bytes=50), stored)
    assert one.id == "river.md"
    assert states(comparison) == {"empty.md": "failed", "large.md": "failed"}
    reasons = {outcome.id: outcome.reason for outcome in comparison.outcomes}
    assert "no text" in reasons["empty.md"]
    assert "larger than" in reasons["large.md"]
    assert comparison.missing == {}


def test_documents_without_a_file_are_missing_before_any_file_is_read(tmp_path: Path) -> None:
    write(tmp_path, river=RIVER)
    comparison, _ = compare(order_of(tmp_path), stored_of(CITY, "city"), "s1")
    assert [*comparison.missing] == ["city.md"]
    assert comparison.outcomes == []


def test_files_are_read_one_at_a_time(tmp_path: Path) -> None:
    write(tmp_path, a=RIVER, b=CITY)
    _, wanted = compare(order_of(tmp_path), {}, "s1")
    assert next(wanted).id == "a.md"
    write(tmp_path, b="Rewritten.\n")
    assert next(wanted).hash == digest("Rewritten.\n")


@pytest.mark.parametrize(
    ("document", "title"), [("a.md", "a.md"), ("x/y/z.txt", "z.txt"), ("x y/ä ö.md", "ä ö.md")]
)
def test_a_document_is_called_by_its_file(document: str, title: str) -> None:
    assert title_of(document) == title
