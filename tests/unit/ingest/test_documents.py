"""Files compared with the documents of a graph: which are written, and what is said of others."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from pgs_neo4j.errors import InputFileError, ModelOutputError, StoppedError
from pgs_neo4j.graph.hashes import digest
from pgs_neo4j.ingest.documents import (
    Compared,
    compare,
    hash_of,
    rules_of,
    title_of,
)
from pgs_neo4j.ingest.order import Chunker, IngestOrder
from pgs_neo4j.ingest.sources.find import Sources, find_sources
from pgs_neo4j.ingest.sources.loader import FileLoader
from pgs_neo4j.ingest.sources.roots import root_hashes
from pgs_neo4j.ingest.stored import StoredDocument
from pgs_neo4j.ingest.wanted import WantedDocument
from pgs_neo4j.model.documents import (
    DocumentLoader,
    DocumentSource,
    DocumentText,
    LoadedDocument,
    OutlineEntry,
    RefusedDocument,
)
from pgs_neo4j.text.chunking import ChunkRules
from pgs_neo4j.text.extraction import definitions
from pgs_neo4j.text.extraction.schema import DEFAULT_TYPES, EntitySchema
from tests.fakes.chunkers import SignChunker
from tests.fakes.extractors import WordExtractor
from tests.fakes.ingestion import stored_document

RIVER, CITY = "The Seine flows.\n", "Paris is a city.\n"
LOADER = FileLoader()
WHOLE, SMALL = ChunkRules(), ChunkRules(strategy="content", size=8, overlap=0)


def write(folder: Path, **texts: str) -> None:
    for name, text in texts.items():
        (folder / f"{name}.md").write_text(text)


def order_of(folder: Path, **given: Any) -> IngestOrder:
    sources = find_sources([folder], LOADER.takes)
    return IngestOrder(graph="docs", label="Docs", sources=sources, **given)


def rules(divided: ChunkRules = WHOLE) -> str:
    order = IngestOrder(graph="", label="", sources=Sources((), {}), rules=divided)
    return rules_of(order.rules, LOADER)


def stored_of(text: str, name: str, **given: Any) -> dict[str, StoredDocument]:
    """A document as it stands after its file had this text."""
    one = stored_document(
        f"{name}.md",
        **{"hash": digest(text), "rules": rules(), "size": len(text)} | given,
    )
    return {one.id: one}


def file_of(folder: Path, text: str, name: str) -> dict[str, StoredDocument]:
    """A document as it stands after its file in a folder had this text."""
    return stored_of(text, name, roots=root_hashes(folder))


async def compared(
    order: IngestOrder,
    stored: Mapping[str, StoredDocument],
    extractor: str | EntitySchema = "s1",
    loader: DocumentLoader = LOADER,
    chunker: Chunker | None = None,
) -> tuple[Compared, list[WantedDocument]]:
    """``extractor`` is the schema that it is told, or another signature than ``s1``."""
    named = isinstance(extractor, str)
    made = WordExtractor(signature=extractor) if named else WordExtractor(schema=extractor)
    comparison, wanted = compare(order, loader, stored, made, chunker)
    return comparison, [one async for one in wanted]


def states(comparison: Compared) -> dict[str, str]:
    return {one.id: one.state for one in comparison.outcomes}


@pytest.mark.parametrize(
    ("files", "held", "wanted", "missing"),
    [
        ({"river": RIVER}, {"river": RIVER}, {}, ""),
        ({"river": "The Seine flows.\r\n"}, {"river": RIVER}, {}, ""),
        ({"river": RIVER}, {}, {"river": "added"}, ""),
        ({"river": CITY}, {"river": RIVER}, {"river": "changed"}, ""),
        ({"stream": RIVER}, {"river": RIVER}, {"stream": "moved river"}, ""),
        ({"copy": RIVER, "river": RIVER}, {"river": RIVER}, {"copy": "added"}, ""),
        ({"x": RIVER, "y": RIVER}, {"river": RIVER}, {"x": "moved river", "y": "added"}, ""),
        (
            {"x": RIVER, "y": RIVER},
            dict.fromkeys("bac", RIVER),
            {"x": "moved a", "y": "moved b"},
            "c",
        ),
        ({"city": RIVER}, {"city": CITY, "river": RIVER}, {"city": "changed"}, "river"),
    ],
)
async def test_a_file_is_compared_with_all_documents_by_id_and_text(
    tmp_path: Path,
    files: dict[str, str],
    held: dict[str, str],
    wanted: dict[str, str],
    missing: str,
) -> None:
    write(tmp_path, **files)
    stored: dict[str, StoredDocument] = {}
    for name, text in held.items():
        stored |= file_of(tmp_path, text, name)
    comparison, found = await compared(order_of(tmp_path), stored)
    told = {one.name[:-3]: f"{one.state} {one.outcome(()).former[:-3]}".strip() for one in found}
    assert told == wanted
    for one in found:
        text = files[one.name[:-3]]
        assert (one.size, one.hash, one.roots) == (len(text), digest(text), root_hashes(tmp_path))
        assert "".join(chunk.chunk.text for chunk in one.chunks) == text
        assert one.former == (one.id, *filter(None, [one.outcome(()).former]))
    assert states(comparison) == {f"{id_}.md": "unchanged" for id_ in files if id_ not in wanted}
    assert ([*comparison.missing], comparison.elsewhere) == ([f"{missing}.md"][: len(missing)], [])


async def test_a_copy_of_a_file_of_another_folder_is_added_and_both_stay(tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    for folder in (here, there):
        folder.mkdir()
    write(here, stream=RIVER)
    write(there, river=RIVER)
    for sync in (False, True):
        order, held = order_of(here, sync=sync), file_of(there, RIVER, "river")
        comparison, (one,) = await compared(order, held)
        assert (one.state, one.former) == ("added", ("stream.md",))
        assert (comparison.missing, comparison.elsewhere) == ({}, ["river.md"])
        told = comparison.all_outcomes(order, [one.outcome(())])
        assert [(each.id, each.state) for each in told] == [
            ("river.md", "elsewhere"), ("stream.md", "added"),
        ]  # fmt: skip


async def test_a_document_moves_between_two_folders_that_are_both_read(tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    for folder in (here, there):
        folder.mkdir()
    write(here, stream=RIVER)
    sources = find_sources([here, there], LOADER.takes)
    order = replace(order_of(here), sources=sources)
    _, (one,) = await compared(order, file_of(there, RIVER, "river"))
    assert (one.state, one.former) == ("moved", ("stream.md", "river.md"))


async def test_a_document_without_a_folder_is_never_moved_or_missing(tmp_path: Path) -> None:
    write(tmp_path, stream=RIVER)
    upload = stored_of(RIVER, "river")
    comparison, (one,) = await compared(order_of(tmp_path, sync=True), upload)
    assert (one.state, comparison.elsewhere) == ("added", ["river.md"])


async def test_files_and_patterns_leave_alone_what_they_do_not_read(tmp_path: Path) -> None:
    write(tmp_path, river=RIVER, city=CITY)
    (tmp_path / "a.txt").write_text("Text.")
    held = file_of(tmp_path, RIVER, "gone") | stored_of(RIVER, "upload")
    held |= file_of(tmp_path, "Text.", "gone.txt") | file_of(tmp_path, CITY, "city")
    expected: dict[str, list[str]] = {
        "river.md": [], "*.txt": [], "*.md": ["gone.md", "gone.txt.md"],
        ".": ["gone.md", "gone.txt.md"],
    }  # fmt: skip
    for path, missing in expected.items():
        sources = find_sources([tmp_path / path], LOADER.takes)
        order = replace(order_of(tmp_path), sources=sources)
        comparison, _ = compare(order, LOADER, held, WordExtractor())
        assert {*comparison.missing} == {*missing}, path
        unread = held.keys() - comparison.missing.keys() - {one.id for one in sources.listed}
        assert {*comparison.elsewhere} == unread
    both = find_sources([tmp_path, DocumentSource(id="note.md", data=CITY)], LOADER.takes)
    comparison, _ = compare(
        replace(order_of(tmp_path), sources=both), LOADER, held, WordExtractor()
    )
    assert {*comparison.missing} == {"gone.md", "gone.txt.md"}


async def test_a_document_that_stays_learns_of_which_folder_it_is(tmp_path: Path) -> None:
    write(tmp_path, river=RIVER)
    roots, upload = root_hashes(tmp_path), DocumentSource(id="river.md", data=RIVER)
    sent = Sources((upload,), {})
    for stored, learned in (
        ((), {"river.md": roots}),
        (("moved",), {"river.md": roots}),
        (roots, {}),
    ):
        held = stored_of(RIVER, "river", roots=stored)
        comparison, wanted = await compared(order_of(tmp_path), held)
        assert (comparison.rooted, wanted) == (learned, [])
        comparison, _ = await compared(replace(order_of(tmp_path), sources=sent), held)
        assert comparison.rooted == {}


NARROW = EntitySchema(types={"Person": DEFAULT_TYPES["Person"]}, mode="strict")
KNOWN = {schema.signature: schema for schema in (EntitySchema(), NARROW)}


async def test_a_narrower_schema_writes_a_document_again_from_what_is_known(tmp_path: Path) -> None:
    write(tmp_path, river=RIVER)
    told = EntitySchema().told.signature
    stored = stored_of(RIVER, "river", schema=told, told=(told,))
    _, (first,) = await compared(order_of(tmp_path, schemas=KNOWN), {}, EntitySchema())
    order = order_of(tmp_path, schema=NARROW, schemas=KNOWN)
    comparison, (one,) = await compared(order, stored, NARROW)
    assert (one.state, comparison.outcomes) == ("changed", [])
    settled = one.settle({first.chunks[0].extraction_key})
    assert settled.chunks[0].extraction_key == first.chunks[0].extraction_key
    assert one.settle(()).chunks[0].extraction_key == one.chunks[0].extraction_key
    assert one.chunks[0].extraction_key != first.chunks[0].extraction_key


UNDER_NARROW = {"schema": NARROW.signature, "told": (NARROW.told.signature,)}


@pytest.mark.parametrize(
    ("stored", "given", "extractor", "state"),
    [
        ({}, {}, "s2", "stale"),
        ({}, {"refresh": True}, "s2", "changed"),
        ({}, {"refresh": True}, "s1", "unchanged"),
        (UNDER_NARROW, {}, EntitySchema(), "stale"),
        (UNDER_NARROW, {"schemas": KNOWN}, EntitySchema(), "stale"),
        (UNDER_NARROW, {"schemas": KNOWN, "refresh": True}, EntitySchema(), "changed"),
        (UNDER_NARROW, {"refresh": True}, EntitySchema(), "changed"),
        (UNDER_NARROW, {"schema": NARROW}, NARROW, "unchanged"),  # even if it was purged
    ],
)
async def test_what_another_model_or_a_narrower_schema_left_is_stale_until_it_is_refreshed(
    tmp_path: Path, stored: Any, given: Any, extractor: str | EntitySchema, state: str
) -> None:
    write(tmp_path, river=RIVER)
    held = stored_of(RIVER, "river", chunks=3, **stored)
    comparison, wanted = await compared(order_of(tmp_path, **given), held, extractor)
    told = [(one.id, one.state, one.chunks, one.extracted) for one in comparison.outcomes]
    assert told == ([] if wanted else [("river.md", state, 3, 0)])
    assert [one.state for one in wanted] == ["changed"] * (state == "changed")
    assert {len(chunk.bases) for one in wanted for chunk in one.chunks} <= {1}


async def test_other_rules_divide_a_document_again(tmp_path: Path) -> None:
    text = "".join(f"Sentence number {number} is here.\n\n" for number in range(12))
    write(tmp_path, long=text)
    stored = stored_of(text, "long")
    _, (one,) = await compared(order_of(tmp_path, rules=SMALL), stored)
    assert one.state == "changed"
    assert len(one.chunks) > 1
    assert "".join(chunk.chunk.text for chunk in one.chunks) == text
    again = stored_of(text, "long", rules=rules(SMALL))
    comparison, wanted = await compared(order_of(tmp_path, rules=SMALL), again)
    assert (states(comparison), wanted) == ({"long.md": "unchanged"}, [])


async def test_a_chunker_of_ones_own_says_where_chunks_end(tmp_path: Path) -> None:
    text = "One is here; two is. Three; four.\n"
    write(tmp_path, parts=text)
    order, chunker = order_of(tmp_path), SignChunker()
    _, (one,) = await compared(order, stored_of(text, "parts"), chunker=chunker)
    found = [wanted.chunk for wanted in one.chunks]
    assert [chunk.text for chunk in found] == ["One is here;", " two is. Three;", " four.\n"]
    assert [len(chunk.sentences) for chunk in found] == [1, 2, 1]
    assert found[1].context == "One is here;"
    made = rules_of(order.rules, LOADER, chunker)
    assert (one.state, one.rules) == ("changed", made)
    assert made != rules_of(order.rules, LOADER, SignChunker("."))
    comparison, wanted = await compared(
        order, stored_of(text, "parts", rules=made), chunker=chunker
    )
    assert (states(comparison), wanted) == ({"parts.md": "unchanged"}, [])


async def test_a_text_that_cannot_be_divided_fails_and_a_limit_ends_the_reading(
    tmp_path: Path,
) -> None:
    write(tmp_path, a="Apples.\n", b="Bread.\n", c="Cake.\n", d="Dough.\n")
    errors = {"Apples": ModelOutputError("no vectors"), "Cake": StoppedError("max_calls reached")}
    order = order_of(tmp_path)
    comparison, wanted = await compared(order, {}, chunker=SignChunker(errors=errors))
    assert [one.id for one in wanted] == ["b.md"]
    (failed,) = comparison.outcomes
    assert (failed.id, failed.state) == ("a.md", "failed")
    assert failed.reason == "its text could not be divided: no vectors"
    assert comparison.stopped == "max_calls reached"
    waiting = comparison.all_outcomes(order, [], stopped=True)
    assert [one.id for one in waiting if one.state == "waiting"] == ["c.md", "d.md"]


async def test_a_chunker_must_reach_the_end_of_the_text(tmp_path: Path) -> None:
    class Short(SignChunker):
        async def divide(self, document: DocumentText) -> list[int]:
            return [3, 2]

    write(tmp_path, a="Apples.\n")
    comparison, wanted = await compared(order_of(tmp_path), {}, chunker=Short())
    assert wanted == []
    assert "chunks must end in ascending order, the last one at 8" in comparison.outcomes[0].reason


async def test_equal_chunks_of_a_document_have_ids_of_their_own(tmp_path: Path) -> None:
    write(tmp_path, refrain="The same sentence stands here again.\n\n" * 6)
    _, (one,) = await compared(order_of(tmp_path, rules=SMALL), {})
    ids = [chunk.id for chunk in one.chunks]
    assert len(ids) == len({*ids}) > 2
    by_text: dict[str, list[str]] = {}
    for chunk in one.chunks:
        by_text.setdefault(chunk.chunk.text, []).append(chunk.id)
    for text_ids in by_text.values():
        first = text_ids[0]
        assert text_ids == [first, *(f"{first}-{n}" for n in range(2, len(text_ids) + 1))]
    assert max(len(text_ids) for text_ids in by_text.values()) > 1


async def test_a_chunk_keeps_its_id_and_key_when_another_part_is_edited(tmp_path: Path) -> None:
    parts = [f"Part {number} tells a story of its own.\n\n" for number in range(9)]
    write(tmp_path, story="".join(parts))
    _, (before,) = await compared(order_of(tmp_path, rules=SMALL), {})
    write(tmp_path, story="".join([*parts[:-1], "The end is another one now.\n\n"]))
    _, (after,) = await compared(order_of(tmp_path, rules=SMALL), {})
    assert before.chunks[0].id == after.chunks[0].id
    assert before.chunks[0].extraction_key == after.chunks[0].extraction_key
    assert before.chunks[-1].id != after.chunks[-1].id


async def test_an_extraction_rests_on_model_and_text_but_not_on_the_file(tmp_path: Path) -> None:
    write(tmp_path, a=RIVER, b=RIVER, c=CITY)
    _, (a, b, c) = await compared(order_of(tmp_path), {})
    assert a.chunks[0].id != b.chunks[0].id
    assert a.chunks[0].extraction_key == b.chunks[0].extraction_key
    assert a.chunks[0].extraction_key != c.chunks[0].extraction_key
    _, (other, *_) = await compared(order_of(tmp_path), {}, "s2")
    assert other.chunks[0].extraction_key != a.chunks[0].extraction_key
    assert other.chunks[0].id == a.chunks[0].id


async def test_a_file_that_cannot_be_read_is_told_and_its_document_stays(tmp_path: Path) -> None:
    write(tmp_path, empty=" \n", large=RIVER * 9, river=RIVER)
    stored = stored_of(RIVER, "empty")
    comparison, (one,) = await compared(order_of(tmp_path), stored, loader=FileLoader(50))
    assert one.id == "river.md"
    assert states(comparison) == {"empty.md": "failed", "large.md": "failed"}
    reasons = {outcome.id: outcome.reason for outcome in comparison.outcomes}
    assert "no text" in reasons["empty.md"]
    assert "larger than" in reasons["large.md"]
    assert comparison.missing == {}


async def test_files_are_read_one_at_a_time(tmp_path: Path) -> None:
    write(tmp_path, a=RIVER, b=CITY)
    _, wanted = compare(order_of(tmp_path), LOADER, {}, WordExtractor())
    assert (await anext(wanted)).id == "a.md"
    write(tmp_path, b="Rewritten.\n")
    assert (await anext(wanted)).hash == digest("Rewritten.\n")


@dataclass
class TableLoader:
    """Makes documents of the lines of a file; one that says ``bad`` is refused, ``end`` fails."""

    signature: str = "t1"

    def takes(self, name: str) -> bool:
        return name.endswith(".table")

    async def load(self, source: DocumentSource) -> AsyncIterator[LoadedDocument | RefusedDocument]:
        assert source.path is not None
        for line in source.path.read_text().splitlines():
            key, _, text = line.partition(" ")
            if text == "end":
                raise InputFileError("it is cut off")
            if text == "bad":
                yield RefusedDocument(id=f"{source.id}#{key}", reason="bad")
            else:
                loaded = DocumentText(text=text)
                yield LoadedDocument(
                    id=f"{source.id}#{key}", text=loaded, size=len(text), name=key, note="guessed"
                )


async def of_table(
    folder: Path, lines: str, stored: Mapping[str, StoredDocument], signature: str = "t1"
) -> tuple[Compared, list[WantedDocument]]:
    (folder / "a.table").write_text(lines)
    loader = TableLoader(signature)
    order = replace(order_of(folder), sources=find_sources([folder], loader.takes))
    return await compared(order, stored, loader=loader)


def row(key: str, text: str, loader: str = "t1") -> dict[str, StoredDocument]:
    """A record of the table as the graph holds it."""
    (one,) = stored_of(
        text, key, rules=digest([WHOLE.signature, loader, definitions.FORM])
    ).values()
    return {f"a.table#{key}": replace(one, id=f"a.table#{key}")}


async def test_a_source_of_several_documents_is_compared_record_by_record(tmp_path: Path) -> None:
    stored = row("1", RIVER.strip()) | row("2", "Old.") | row("3", "Gone.")
    lines = f"1 {RIVER.strip()}\n2 New.\n4 Added.\n"
    comparison, wanted = await of_table(tmp_path, lines, stored)
    assert [(one.id, one.state, one.name, one.note) for one in wanted] == [
        ("a.table#2", "changed", "2", "guessed"), ("a.table#4", "added", "4", "guessed"),
    ]  # fmt: skip
    assert states(comparison) == {"a.table#1": "unchanged"}
    assert [*comparison.missing] == ["a.table#3"]
    assert comparison.done == {"a.table"}


@pytest.mark.parametrize("fault", ["2 bad", "2 end"])
async def test_after_a_fault_in_a_source_nothing_of_it_is_missing(
    tmp_path: Path, fault: str
) -> None:
    stored = row("1", RIVER.strip()) | row("2", "Old.") | row("3", "Gone.")
    comparison, wanted = await of_table(tmp_path, f"1 {RIVER.strip()}\n{fault}\n", stored)
    failed = "a.table#2" if fault == "2 bad" else "a.table"
    assert states(comparison) == {"a.table#1": "unchanged", failed: "failed"}
    assert (comparison.missing, wanted) == ({}, [])


async def test_nothing_of_a_folder_that_cannot_be_read_is_missing(tmp_path: Path) -> None:
    write(tmp_path, river=RIVER)
    order = order_of(tmp_path, sync=True)
    order = replace(order, sources=replace(order.sources, closed={"shut/": "it cannot be read"}))
    held = file_of(tmp_path, RIVER, "shut/river") | file_of(tmp_path, CITY, "shutter")
    held |= file_of(tmp_path, CITY, "a/shut/b")
    comparison, (added,) = await compared(order, held)
    assert (added.id, added.former) == ("river.md", ("river.md",))
    assert comparison.missing.keys() == {"shutter.md", "a/shut/b.md"}
    (told,) = comparison.outcomes
    assert (told.id, told.state, told.reason) == ("shut/", "failed", "it cannot be read")


async def test_records_of_a_source_that_is_gone_move_or_are_missing(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    stored = {
        f"b/{id_}": replace(one, id=f"b/{id_}", source="b/a.table", roots=root_hashes(tmp_path))
        for id_, one in (row("1", "Same.") | row("2", "Gone.")).items()
    }
    comparison, (one,) = await of_table(tmp_path, "1 Same.\n", stored)
    assert (one.state, one.former) == ("moved", ("a.table#1", "b/a.table#1"))
    assert [*comparison.missing] == ["b/a.table#2"]


async def test_another_loader_writes_documents_again(tmp_path: Path) -> None:
    stored = row("1", "Same.")
    comparison, wanted = await of_table(tmp_path, "1 Same.\n", stored)
    assert (states(comparison), wanted) == ({"a.table#1": "unchanged"}, [])
    _, (one,) = await of_table(tmp_path, "1 Same.\n", stored, signature="t2")
    assert one.state == "changed"


def test_pages_and_titles_belong_to_the_hash_of_a_document() -> None:
    plain = DocumentText(text=RIVER)
    paged = replace(plain, page_starts=(0, 4))
    titled = replace(plain, outline=(OutlineEntry(0, 1, "River"),))
    assert hash_of(plain) == digest(RIVER)
    assert len({hash_of(plain), hash_of(paged), hash_of(titled)}) == 3


@pytest.mark.parametrize(
    ("document", "title"), [("a.md", "a.md"), ("x/y/z.txt", "z.txt"), ("x y/ä ö.md", "ä ö.md")]
)
def test_a_document_is_called_by_its_file(document: str, title: str) -> None:
    assert title_of(document) == title
