"""The inverted index finds every term in every text, with its weight."""

from __future__ import annotations

import pytest

from pgs_neo4j.errors import StoredDataError
from pgs_neo4j.text.terms import postings as batches
from pgs_neo4j.text.terms.cells import bucket_of, read_cell
from pgs_neo4j.text.terms.postings import FULL, K1, B, Segment, SegmentBuilder, terms_of

TEXTS = [
    "Glaciers melt. A glacier is melting while glaciers grow.",
    "",
    "Courts decide; a court of 12 decided on maxRetries.",
    "氷河が溶ける",
]


def segment_of(texts: list[str], typical: float = 40.0) -> Segment:
    """Texts as a segment."""
    builder = SegmentBuilder(typical)
    builder.add(texts)
    assert builder.size == len(texts)
    return builder.build()


def find(segment: Segment, word: str) -> dict[int, int]:
    """Texts that hold a word, with the impact."""
    (term,) = terms_of(word)
    cell = segment.cells.get(bucket_of(term, segment.bits))
    found = read_cell(cell, [term], segment.bits) if cell else {}
    if term not in found:
        return {}
    return dict(zip(found[term].texts.tolist(), found[term].impacts.tolist(), strict=True))


def test_a_word_is_found_in_all_its_forms() -> None:
    segment = segment_of(TEXTS)
    assert list(find(segment, "glacier")) == list(find(segment, "Glaciers")) == [0]
    assert list(find(segment, "court")) == [2]
    assert list(find(segment, "12")) == [2]
    assert list(find(segment, "retries")) == [2]
    assert find(segment, "unheard") == {}


def test_an_identifier_is_found_by_its_words_and_as_a_whole() -> None:
    assert len(terms_of("maxRetries")) == 3
    segment = segment_of(TEXTS)
    for term in terms_of("maxRetries"):
        found = read_cell(segment.cells[bucket_of(term, segment.bits)], [term], segment.bits)
        assert found[term].texts.tolist() == [2]


def test_a_cell_gives_all_its_terms_at_once() -> None:
    segment = segment_of(TEXTS)
    terms = terms_of("glaciers in court and unheard of")
    assert segment.bits == 0
    found = read_cell(segment.cells[0], terms, segment.bits)
    assert sorted(postings.texts.tolist() for postings in found.values()) == [[0], [2]]


def test_a_script_without_spaces_is_found_by_pairs_of_letters() -> None:
    assert len(terms_of("氷河")) == 3
    assert list(find(segment_of(TEXTS), "河")) == [3]


@pytest.mark.parametrize("question", ["", "the of and", "?!", "x", "a b c"])
def test_function_words_and_single_letters_are_no_terms(question: str) -> None:
    assert terms_of(question) == []


def test_the_impact_is_that_of_bm25() -> None:
    texts = ["ice", "ice ice ice", "ice and a lot of other words that make it long"]
    typical = 10.0
    found = find(segment_of(texts, typical), "ice")
    for number, text in enumerate(texts):
        count = text.count("ice")
        norm = K1 * (1 - B + B * len(text) / typical)
        assert found[number] == round(FULL * count / (count + norm))


def test_many_texts_are_divided_into_cells_and_found() -> None:
    texts = [f"text number{i} about topic{i % 50} and filler{i % 7}" for i in range(5000)]
    segment = segment_of(texts)
    assert len(segment.cells) > 1
    assert list(find(segment, "number4711")) == [4711]
    assert list(find(segment, "topic7")) == list(range(7, 5000, 50))


def test_more_texts_than_two_bytes_count() -> None:
    texts = [""] * 70_000
    texts[0] = texts[65_536] = texts[69_999] = "needle"
    segment = segment_of(texts)
    assert list(find(segment, "needle")) == [0, 65_536, 69_999]


def test_a_text_longer_than_a_batch_is_one_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "BATCH", 100)
    long = "needle and hay " * 50
    segment = segment_of(["hay", long, "needle"])
    assert list(find(segment, "needle")) == [1, 2]
    assert find(segment, "needle")[1] == round(FULL * 50 / (50 + K1 * (1 - B + B * len(long) / 40)))


def test_an_unknown_format_is_refused() -> None:
    (term,) = terms_of("ice")
    with pytest.raises(StoredDataError, match="pgs partition --graph NAME --force"):
        read_cell(b"\x09\x02", [term], 0)


def test_nothing_is_an_empty_segment() -> None:
    assert segment_of([]).cells == {}
    assert segment_of(["", ""]).cells == {}
    assert segment_of(["", ""]).size == 2
