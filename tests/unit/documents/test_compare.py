"""Files compared with the documents of a graph: which are written, and what is said of others."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from pgs_neo4j.documents.compare import Compared, compare, hash_of, hash_rules
from pgs_neo4j.documents.order import Chunker, IngestOrder
from pgs_neo4j.documents.sources.find import Sources, find_sources, root_hashes
from pgs_neo4j.documents.sources.loader import FileLoader
from pgs_neo4j.documents.stored import StoredDocument
from pgs_neo4j.documents.wanted import WantedDocument
from pgs_neo4j.errors import ModelOutputError, StoppedError
from pgs_neo4j.graph.hashes import digest
from pgs_neo4j.model.documents import (
    DocumentLoader,
    DocumentSource,
    DocumentText,
    LoadedDocument,
    OutlineEntry,
    RefusedDocument,
)
from pgs_neo4j.model.ingest import Ingested
from pgs_neo4j.text.chunking import ChunkRules
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
    return hash_rules(order.rules, LOADER)


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


def loaded_of(id_: str, text: DocumentText | None = None, **values: Any) -> LoadedDocument:
    """A document as a loader yields it."""
    given: dict[str, Any] = {"id": id_, "text": text or DocumentText(text="Figs."), "size": 5}
    return LoadedDocument(**given | values)


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


async def test_only_a_document_of_a_folder_that_is_read_moves(tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    for folder in (here, there):
        folder.mkdir()
    write(here, stream=RIVER)
    order, held = order_of(here, sync=True), file_of(there, RIVER, "river")
    for stored in (held, stored_of(RIVER, "river")):  # of another folder, and of none
        comparison, (one,) = await compared(order, stored)
        assert (one.state, one.former) == ("added", ("stream.md",))
        assert (comparison.missing, comparison.elsewhere) == ({}, ["river.md"])
        told = comparison.all_outcomes(order, [one.outcome(())])
        assert [(each.id, each.state) for each in told] == [
            ("river.md", "elsewhere"), ("stream.md", "added"),
        ]  # fmt: skip
    both = replace(order, sources=find_sources([here, there], LOADER.takes))
    _, (one,) = await compared(both, held)
    assert (one.state, one.former) == ("moved", ("stream.md", "river.md"))


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
    order, roots = order_of(tmp_path), root_hashes(tmp_path)
    upload = Sources((DocumentSource(id="river.md", data=RIVER),), {})
    for stored in ((), ("moved",), roots):
        held = stored_of(RIVER, "river", roots=stored)
        comparison, wanted = await compared(order, held)
        assert (comparison.rooted, wanted) == ({} if stored == roots else {"river.md": roots}, [])
        comparison, _ = await compared(replace(order, sources=upload), held)
        assert comparison.rooted == {}


NARROW = EntitySchema(types={"Person": DEFAULT_TYPES["Person"]}, mode="strict")
KNOWN = {schema.signature: schema for schema in (EntitySchema(), NARROW)}


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
    order = order_of(tmp_path, rules=SMALL)
    _, (one,) = await compared(order, stored_of(text, "long"))
    assert (one.state, len(one.chunks) > 1) == ("changed", True)
    assert "".join(chunk.chunk.text for chunk in one.chunks) == text
    comparison, wanted = await compared(order, stored_of(text, "long", rules=rules(SMALL)))
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
    made = hash_rules(order.rules, LOADER, chunker)
    assert (one.state, one.rules) == ("changed", made)
    assert made != hash_rules(order.rules, LOADER, SignChunker("."))
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
    assert "chunk ends must increase, and the last must be 8" in comparison.outcomes[0].reason


@pytest.mark.parametrize(
    ("returned", "said"),
    [
        (["Apples.\n"], "returned a list with a value of the type str; return the positions in"),
        ([3.0, 8.0], "returned a list with a value of the type float"),
        ([(0, 8)], "a list with a value of the type tuple"),
        ([True, 8], "a list with a value of the type bool"),
        ([], "returned an empty list"),
        (None, "returned None; return the positions in the text where chunks end"),
        ("Apples.\n", "returned a value of the type str"),
        (KeyError("paragraph"), "the chunker Odd failed with KeyError: 'paragraph'"),
        (TimeoutError(), "the chunker Odd failed with TimeoutError"),
    ],
)
async def test_a_chunker_that_returns_or_raises_something_else_fails_the_document(
    tmp_path: Path, returned: object, said: str
) -> None:
    class Odd(SignChunker):
        async def divide(self, document: DocumentText) -> list[int]:
            if isinstance(returned, Exception):
                raise returned
            return cast(list[int], returned)

    write(tmp_path, a="Apples.\n")
    comparison, wanted = await compared(order_of(tmp_path), {}, chunker=Odd())
    assert wanted == []
    assert said in comparison.outcomes[0].reason


@pytest.mark.parametrize(
    ("loaded", "said"),
    [
        (KeyError("page"), "the loader Odd failed with KeyError: 'page'; raise a ModelError"),
        (
            "Apples.",
            "load() of loader Odd yielded a value of the type str for a.md; ",
        ),
        (loaded_of("a.md", cast(Any, "Apples.")), "whose text is a value of the type str; make it"),
        (loaded_of("a.md", size=-1), "whose size is -1; make it the number of bytes"),
        (loaded_of("a.md", name=cast(Any, None)), "whose name is None; make it a text"),
        (loaded_of("b.md"), "whose id is 'b.md'; make it 'a.md', or begin it with 'a.md#'"),
        (loaded_of("a.md#" + 600 * "x"), "its path has more than 500 characters"),
        (
            loaded_of("a.md", DocumentText(text="Fig.", page_starts=(0, 9))),
            "whose page_starts are",
        ),
        (
            loaded_of("a.md", DocumentText(text="A\r\nB", page_starts=(0, 3))),
            "the loader Odd counted positions in text that is not normalized",
        ),
        (
            RefusedDocument(id="a.md", reason=cast(Any, 7)),
            "whose reason is a value of the type int",
        ),
    ],
)
async def test_a_loader_that_raises_or_yields_something_else_fails_its_source(
    tmp_path: Path, loaded: object, said: str
) -> None:
    class Odd:
        signature = "odd"

        def takes(self, name: str) -> bool:
            return name.endswith(".txt")

        async def load(self, source: DocumentSource) -> AsyncIterator[Any]:
            if isinstance(loaded, Exception):
                raise loaded
            yield loaded

    write(tmp_path, a="Apples.\n")
    comparison, wanted = await compared(order_of(tmp_path), {}, loader=Odd())
    assert wanted == []
    (outcome,) = comparison.outcomes
    assert outcome.state == "failed"
    assert said in outcome.reason


class Given:
    """A loader that yields what it is given, for each file."""

    signature = "given"

    def __init__(self, *given: LoadedDocument | RefusedDocument) -> None:
        self.given = given

    def takes(self, name: str) -> bool:
        return name.endswith(".txt")

    async def load(self, source: DocumentSource) -> AsyncIterator[LoadedDocument | RefusedDocument]:
        for one in self.given:
            yield one


async def test_texts_of_an_own_loader_get_the_normal_form_of_the_built_in_ones(
    tmp_path: Path,
) -> None:
    write(tmp_path, a="Apples.\n")
    text = DocumentText(text="Apples.\r\n\r\nPears\ud800\0.")
    _, (one,) = await compared(order_of(tmp_path), {}, loader=Given(loaded_of("a.md", text)))
    assert "".join(chunk.chunk.text for chunk in one.chunks) == "Apples.\n\nPears\ufffd."


async def test_documents_of_an_own_loader_have_ids_of_their_own(tmp_path: Path) -> None:
    write(tmp_path, a="Apples.\n")
    given = Given(loaded_of("a.md#1"), loaded_of("a.md#2"), loaded_of("a.md#1"))
    comparison, wanted = await compared(order_of(tmp_path), {}, loader=given)
    assert [one.id for one in wanted] == ["a.md#1", "a.md#2"]
    assert "yielded a.md#1 twice; give each" in comparison.outcomes[0].reason


@pytest.mark.parametrize("waits", [True, False])
async def test_a_load_that_yields_nothing_is_named(tmp_path: Path, waits: bool) -> None:
    class Plain(Given):
        def load(self, source: DocumentSource) -> Any:
            return self.wait() if waits else []

        async def wait(self) -> None: ...

    write(tmp_path, a="Apples.\n")
    comparison, _ = await compared(order_of(tmp_path), {}, loader=Plain())
    kind = "coroutine" if waits else "list"
    reason = comparison.outcomes[0].reason
    assert f"load() of loader Plain returned a value of the type {kind}; write it as" in reason


async def test_a_chunker_may_return_numbers_of_numpy(tmp_path: Path) -> None:
    class Array(SignChunker):
        async def divide(self, document: DocumentText) -> list[int]:
            return cast(list[int], np.array([4, 8]))

    write(tmp_path, a="Apples.\n")
    _, (one,) = await compared(order_of(tmp_path), {}, chunker=Array())
    assert [chunk.chunk.text for chunk in one.chunks] == ["Appl", "es.\n"]


async def test_equal_chunks_of_a_document_have_ids_of_their_own(tmp_path: Path) -> None:
    write(tmp_path, refrain="The same sentence stands here again.\n\n" * 6)
    _, (one,) = await compared(order_of(tmp_path, rules=SMALL), {})
    by_text: dict[str, list[str]] = {}
    for chunk in one.chunks:
        by_text.setdefault(chunk.chunk.text, []).append(chunk.id)
    for first, *others in by_text.values():
        assert others == [f"{first}-{n}" for n in range(2, len(others) + 2)]
    assert len(one.chunks) > len(by_text)


async def test_a_chunk_keeps_its_id_and_key_when_another_part_is_edited(tmp_path: Path) -> None:
    parts = [f"Part {number} tells a story of its own.\n\n" for number in range(9)]
    found = []
    for last in (parts[-1], "The end is another one now.\n\n"):
        write(tmp_path, story="".join([*parts[:-1], last]))
        _, (one,) = await compared(order_of(tmp_path, rules=SMALL), {})
        found.append([(chunk.id, chunk.extraction_key) for chunk in one.chunks])
    before, after = found
    assert before[0] == after[0]
    assert before[-1][0] != after[-1][0]


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
    write(tmp_path, binary="\0\1\2", large=RIVER * 9, river=RIVER)
    held = stored_of(RIVER, "binary")
    comparison, (one,) = await compared(order_of(tmp_path), held, loader=FileLoader(50))
    assert (one.id, comparison.missing) == ("river.md", {})
    binary, large = sorted(comparison.outcomes, key=lambda outcome: outcome.id)
    assert (binary.id, binary.state, large.id) == ("binary.md", "failed", "large.md")
    assert "not text" in binary.reason
    assert "larger than" in large.reason


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("zero.md", b""),
        ("blanks.txt", b" \n\t\n"),
        ("zero.pdf", b""),
        ("page.html", b"<html><body></body></html>"),
        ("zero.csv", b""),
        ("head.csv", b"id,text\n"),
        ("list.json", b"[]"),
        ("object.json", b'{"rows": []}'),
        ("lines.jsonl", b"\n"),
    ],
)
async def test_a_file_with_nothing_in_it_is_read_and_empty(
    tmp_path: Path, name: str, data: bytes
) -> None:
    (tmp_path / name).write_bytes(data)
    loader = FileLoader()
    try:
        comparison, wanted = await compared(order_of(tmp_path), {}, loader=loader)
    finally:
        await loader.close()
    assert (states(comparison), wanted) == ({name: "empty"}, [])
    order = order_of(tmp_path)
    (told,) = comparison.all_outcomes(order, [])
    done = Ingested(graph="docs", label="Docs", outcomes=(told,))
    assert (done.complete, done.failed, done.has_documents) == (True, False, False)


async def test_a_document_whose_file_became_empty_is_missing(tmp_path: Path) -> None:
    write(tmp_path, river="")
    comparison, _ = await compared(order_of(tmp_path), stored_of(RIVER, "river"))
    assert ([*comparison.missing], comparison.outcomes) == (["river.md"], [])


async def test_a_page_of_pictures_alone_is_not_empty(tmp_path: Path) -> None:
    picture = f'<img src="data:image/png;base64,{"A" * 3_000}">'
    (tmp_path / "scan.html").write_text(picture)
    loader = FileLoader()
    try:
        comparison, _ = await compared(order_of(tmp_path), {}, loader=loader)
    finally:
        await loader.close()
    (told,) = comparison.outcomes
    assert told.state == "failed"
    assert "1 picture without a description" in told.reason


async def test_places_in_a_file_are_listed_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    lines = [f'{{"id": {n}, "text": "t"}}' if n % 7 else "{" for n in range(1, 22)]
    (tmp_path / "a.jsonl").write_text("\n".join(lines) + "\n")
    loader = FileLoader()
    try:
        comparison, wanted = await compared(order_of(tmp_path), {}, loader=loader)
    finally:
        await loader.close()
    outcomes = comparison.all_outcomes(order_of(tmp_path), [one.outcome(()) for one in wanted])
    ids = [one.id.removeprefix("a.jsonl#") for one in outcomes]
    numbers = [n for n in range(1, 22) if n % 7]
    assert ids == [*map(str, numbers), "line 7", "line 14", "line 21"]


async def test_files_are_read_one_at_a_time(tmp_path: Path) -> None:
    write(tmp_path, a=RIVER, b=CITY)
    _, wanted = compare(order_of(tmp_path), LOADER, {}, WordExtractor())
    assert (await anext(wanted)).id == "a.md"
    write(tmp_path, b="Rewritten.\n")
    assert (await anext(wanted)).hash == digest("Rewritten.\n")


async def of_table(
    folder: Path, rows: str, stored: Mapping[str, StoredDocument]
) -> tuple[Compared, list[WantedDocument]]:
    (folder / "a.csv").write_text(f"id,text\n{rows}")
    return await compared(order_of(folder), stored)


def row(key: str, text: str) -> dict[str, StoredDocument]:
    """A record of the table as the graph holds it."""
    (one,) = stored_of(text, key).values()
    return {f"a.csv#{key}": replace(one, id=f"a.csv#{key}")}


async def test_a_source_of_several_documents_is_compared_record_by_record(tmp_path: Path) -> None:
    stored = row("1", RIVER) | row("2", "Old.\n") | row("3", "Gone.\n")
    comparison, wanted = await of_table(tmp_path, f"1,{RIVER}2,New.\n4,Added.\n", stored)
    assert [(one.id, one.state) for one in wanted] == [
        ("a.csv#2", "changed"), ("a.csv#4", "added"),
    ]  # fmt: skip
    assert states(comparison) == {"a.csv#1": "unchanged"}
    assert [*comparison.missing] == ["a.csv#3"]
    assert comparison.done == {"a.csv"}


@pytest.mark.parametrize(("fault", "failed"), [("2", "a.csv#line 3"), ('2,"cut off', "a.csv")])
async def test_after_a_fault_in_a_source_nothing_of_it_is_missing(
    tmp_path: Path, fault: str, failed: str
) -> None:
    stored = row("1", RIVER) | row("2", "Old.\n") | row("3", "Gone.\n")
    comparison, wanted = await of_table(tmp_path, f"1,{RIVER}{fault}\n", stored)
    assert states(comparison) == {"a.csv#1": "unchanged", failed: "failed"}
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
    stored = {
        f"b/{id_}": replace(one, id=f"b/{id_}", source="b/a.csv", roots=root_hashes(tmp_path))
        for id_, one in (row("1", "Same.\n") | row("2", "Gone.\n")).items()
    }
    comparison, (one,) = await of_table(tmp_path, "1,Same.\n", stored)
    assert (one.state, one.former) == ("moved", ("a.csv#1", "b/a.csv#1"))
    assert [*comparison.missing] == ["b/a.csv#2"]


async def test_what_a_loader_notes_is_told_and_another_one_writes_documents_again(
    tmp_path: Path,
) -> None:
    german = "Die Straße führt über die Brücke. Wir möchten schöne Grüße schicken.\n"
    (tmp_path / "a.md").write_bytes(german.encode("cp1252"))
    others = hash_rules(WHOLE, SimpleNamespace(signature="other"))
    _, (one,) = await compared(order_of(tmp_path), stored_of(german, "a", rules=others))
    assert (one.state, one.note) == ("changed", "it is not UTF-8; it was read as cp1252")


def test_pages_and_titles_belong_to_the_hash_of_a_document() -> None:
    plain = DocumentText(text=RIVER)
    paged = replace(plain, page_starts=(0, 4))
    titled = replace(plain, outline=(OutlineEntry(0, 1, "River"),))
    assert hash_of(plain) == digest(RIVER)
    assert len({hash_of(plain), hash_of(paged), hash_of(titled)}) == 3
