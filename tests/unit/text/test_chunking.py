from __future__ import annotations

import random
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pgs_neo4j.graph.hashes import digest
from pgs_neo4j.model.documents import Chunk, DocumentText, OutlineEntry, Sentence
from pgs_neo4j.text.chunk_groups import SizedSentence, cut_sentence, size_bytes, sized
from pgs_neo4j.text.chunking import ChunkRules, chunk_document
from pgs_neo4j.text.line_labels import blank_labels
from pgs_neo4j.text.sentences import split_sentences
from pgs_neo4j.text.tokens import BYTES_PER_TOKEN
from tests.thorough import tries

WORDS = [f"word{number}" for number in range(500)]
STRATEGIES = ["content", "token", "sentence", "semantic"]
LINES = st.sampled_from(
    ["One. Two!\n", "# Head\n", "```\nx\n```\n", "字。", "| a | b |\n", "\n\n", "x " * 99]
)
TEXT = st.lists(st.one_of(LINES, st.text(max_size=30)), max_size=40).map("".join)


def sentence(chance: random.Random) -> str:
    return " ".join(chance.choices(WORDS, k=chance.randint(5, 25))).capitalize() + ". "


def prose(seed: int, sentences: int) -> list[str]:
    chance = random.Random(seed)
    return [sentence(chance) + "\n\n" * (chance.random() < 0.2) for _ in range(sentences)]


def chunks(text: str, **rules) -> list[Chunk]:
    chosen = ChunkRules(**rules)
    count = sum(1 for _ in split_sentences(text))
    vectors = np.random.default_rng(1).normal(size=(count, 4))
    return list(chunk_document(DocumentText(text=text), chosen, vectors))


@settings(deadline=None, max_examples=60)
@given(TEXT, st.sampled_from(STRATEGIES), st.integers(1, 60), st.integers(0, 20))
def test_chunks_and_their_sentences_tile_the_text(
    text: str, strategy: str, size: int, overlap: int
) -> None:
    made = chunks(text, strategy=strategy, size=size, overlap=overlap)
    assert "".join(chunk.text for chunk in made) == text
    for index, chunk in enumerate(made):
        assert chunk.index == index
        assert chunk.text == text[chunk.start : chunk.end] != ""
        assert chunk.hash == digest(chunk.text)
        assert text[: chunk.start].endswith(chunk.context)
        assert size_bytes(chunk.context) <= overlap * BYTES_PER_TOKEN
        assert chunk.sentences[0].start == 0
        assert chunk.sentences[-1].end == len(chunk.text)
        assert all(one.end == other.start for one, other in pairwise(chunk.sentences))


@pytest.mark.parametrize("strategy", ["content", "sentence", "semantic"])
def test_a_sentence_is_owned_by_one_chunk(strategy: str) -> None:
    text = "".join(prose(1, 300))
    starts = {one.start for one in split_sentences(text)}
    made = chunks(text, strategy=strategy, size=200)
    assert len(made) > 5
    owned = [chunk.start + one.start for chunk in made for one in chunk.sentences]
    assert sorted(owned) == sorted(starts)


@pytest.mark.parametrize("strategy", ["content", "semantic"])
def test_windows_bound_the_size(strategy: str) -> None:
    text = "".join(prose(2, 400))
    made = chunks(text, strategy=strategy, size=200)
    sizes = [size_bytes(chunk.text) / BYTES_PER_TOKEN for chunk in made]
    assert all(100 <= size <= 300 for size in sizes[:-1])
    assert 50 <= sizes[-1] <= 300


@pytest.mark.parametrize("strategy", ["token", "sentence"])
def test_filled_chunks_are_full_and_not_too_large(strategy: str) -> None:
    made = chunks("".join(prose(3, 300)), strategy=strategy, size=200)
    sizes = [size_bytes(chunk.text) / BYTES_PER_TOKEN for chunk in made]
    assert all(size <= 200 for size in sizes)
    least = 190 if strategy == "token" else 130
    assert all(size >= least for size in sizes[:-1])
    assert all(chunk.text[-1].isspace() for chunk in made[:-1])


def test_a_small_document_is_one_chunk() -> None:
    text = "".join(prose(5, 50))
    assert size_bytes(text) < 1.5 * 1200 * BYTES_PER_TOKEN
    (whole,) = chunks(text)
    assert (whole.text, whole.context, whole.path, whole.page) == (text, "", (), None)
    assert chunks("") == []
    assert [chunk.text for chunk in chunks(" \n")] == [" \n"]


# Edits
def changed(before: list[Chunk], after: list[Chunk]) -> int:
    """How many chunks have to be extracted again: another text, or another context."""
    known = {(chunk.hash, chunk.context) for chunk in before}
    return sum((chunk.hash, chunk.context) not in known for chunk in after)


def test_an_inserted_sentence_changes_few_of_three_hundred_chunks() -> None:
    counts = []
    for seed in range(tries(1, 2)):
        chance = random.Random(seed)
        text = prose(seed, 5500)
        before = chunks("".join(text))
        assert len(before) > 270
        for place in (chance.randrange(400) for _ in range(tries(2, 4))):
            edited = [*text[:place], sentence(chance), *text[place:]]
            counts.append(changed(before, chunks("".join(edited))))
    assert np.mean(counts) <= 1.3
    assert max(counts) <= 4


def test_text_added_at_the_end_changes_the_last_chunks_only() -> None:
    text = "".join(prose(7, 600))
    assert changed(chunks(text, size=100), chunks(text + "One more here.", size=100)) <= 2


# Vectors
def test_semantic_chunks_end_where_the_subject_changes() -> None:
    text = "".join(["Cats purr softly at night. " * 10, "Steel melts in hot furnaces. " * 10])
    vectors = np.repeat([[1.0, 0.0], [0.0, 1.0]], 10, axis=0)
    rules = ChunkRules(strategy="semantic", size=90, overlap=0)
    made = list(chunk_document(DocumentText(text=text), rules, vectors))
    assert made[0].text == "Cats purr softly at night. " * 10


def test_semantic_chunks_need_vectors() -> None:
    with pytest.raises(ValueError, match="needs a vector"):
        list(chunk_document(DocumentText(text="x"), ChunkRules(strategy="semantic")))


# Headings, pages, context
HEADED = """Before all.

# Guide
Opening words.

## Install
Take it. Put it there.

### Linux
Use the shell.

## Use
Run it.
"""


def paths(document: DocumentText) -> dict[str, tuple[str, ...]]:
    rules = ChunkRules(strategy="sentence", size=1, overlap=0)
    return {chunk.text.strip(): chunk.path for chunk in chunk_document(document, rules)}


def test_the_path_has_the_headings_above() -> None:
    found = paths(DocumentText(text=HEADED))
    assert found["Before all."] == ()
    assert found["Put it there."] == ("Guide", "Install")
    assert found["### Linux"] == ("Guide", "Install")
    assert found["Use the shell."] == ("Guide", "Install", "Linux")
    assert found["## Use"] == ("Guide",)
    assert found["Run it."] == ("Guide", "Use")
    assert found["# Guide"] == ()


def test_a_loader_may_know_the_outline() -> None:
    text = "Alpha\nOne two.\n\nBeta\nThree four.\n"
    outline = (OutlineEntry(0, 1, "Alpha"), OutlineEntry(text.index("Beta"), 1, "Beta"))
    found = paths(DocumentText(text=text, outline=outline))
    assert found == {"Alpha\nOne two.": (), "Beta\nThree four.": ()}
    deeper = (OutlineEntry(0, 1, "Alpha"), OutlineEntry(text.index("Beta"), 2, "Beta"))
    assert paths(DocumentText(text=text, outline=deeper))["Beta\nThree four."] == ("Alpha",)


def test_a_chunk_does_not_end_with_a_heading() -> None:
    parts = [*prose(8, 30), "\n# Heading here\n"] * 6
    made = chunks("".join(parts), size=150)
    assert all(chunk.sentences[-1].kind != "heading" for chunk in made[:-1])


def test_the_page_is_that_of_the_first_word() -> None:
    text = "One.\n\nTwo.\n\nThree."
    starts = (0, text.index("Two"), text.index("Three"))
    rules = ChunkRules(strategy="sentence", size=1)
    document = DocumentText(text=text, page_starts=starts)
    assert [chunk.page for chunk in chunk_document(document, rules)] == [1, 2, 3]


def test_context_is_whole_sentences_else_words() -> None:
    text = "Short one. Another short one. Third sentence is here. Last one stands."
    rules = ChunkRules(strategy="sentence", size=9, overlap=9)
    made = list(chunk_document(DocumentText(text=text), rules))
    assert [chunk.context for chunk in made] == [
        "",
        "Short one. Another short one. ",
        "Third sentence is here. ",
    ]
    narrow = ChunkRules(strategy="sentence", size=9, overlap=3)
    made = list(chunk_document(DocumentText(text=text), narrow))
    assert [chunk.context for chunk in made] == ["", "one. ", "is here. "]


def test_a_title_of_an_outline_is_repeated_by_chunks_only_in_part() -> None:
    outline = (OutlineEntry(0, 1, "t" * 10_000),)
    text = DocumentText(text="It is so, and it stays. " * 2000, outline=outline)
    made = list(chunk_document(text))
    assert len(made) > 1
    assert {one.path for one in made[1:]} == {("t" * 200,)}


def test_a_chunk_of_a_very_wide_record_has_the_labels_of_its_own_lines(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    names = [f"column {number}" for number in range(300)]
    text = "".join(f"{name}: A value of it stands here.\n" for name in names)
    document = DocumentText(text=text, labels=tuple(names))
    rules = ChunkRules(size=100, overlap=0)
    whole = [*chunk_document(document, rules)]
    assert {one.labels for one in whole} == {tuple(names)}
    monkeypatch.setattr("pgs_neo4j.text.chunking.MOST_LABELS", 299)
    made = [*chunk_document(document, rules)]
    assert len(made) > 5
    # No label belongs to many chunks, so all of them take no more than the record does.
    assert [label for one in made for label in one.labels] == names
    assert [blank_labels(one).text for one in made] == [blank_labels(one).text for one in whole]


TEXTS = st.text(st.sampled_from(list("ab .\n\u00e9\u5b57\U0001f600")), min_size=1, max_size=60)


def whole(text: str) -> SizedSentence:
    (one,) = sized(text, [Sentence(0, len(text))])
    return one


@pytest.mark.parametrize(
    ("text", "count"),
    [("", 0), ("abc", 3), ("\u00e9", 2), ("\u5b57", 3), ("\U0001f600", 4), ("\ud800", 3)],
)
def test_sizes_are_those_of_utf_8(text: str, count: int) -> None:
    assert size_bytes(text) == count


@given(TEXTS, st.integers(-1, 80), st.booleans())
def test_both_parts_are_the_sentence_and_the_first_fits(
    text: str, room: int, inside_words: bool
) -> None:
    parts = cut_sentence(text, whole(text), room, inside_words=inside_words)
    if parts is None:
        return
    first, rest = parts
    assert (first.sentence.start, rest.sentence.end) == (0, len(text))
    assert 0 < first.sentence.end == rest.sentence.start < len(text)
    assert first.size <= room
    assert first.size + rest.size == size_bytes(text)
    assert first.sentence.opens
    assert not rest.sentence.opens
    if not inside_words:
        assert text[first.sentence.end - 1] in " \n"


@given(TEXTS)
def test_a_letter_always_fits_where_words_may_be_cut(text: str) -> None:
    parts = cut_sentence(text, whole(text), 4, inside_words=True)
    assert parts is not None or size_bytes(text) <= 4


def test_large_documents_have_smaller_chunks_and_less_context() -> None:
    rules = ChunkRules(size=1000, overlap=100, large_size=500, large_bytes=10_000)
    assert (rules.size_for(10_000), rules.size_for(10_001)) == (1000, 500)
    assert rules.room_for(1) == int(1000 * BYTES_PER_TOKEN)
    small, large = rules.overlap_bytes_for(1), rules.overlap_bytes_for(10_001)
    assert large == pytest.approx(small / 2, abs=1)


@given(st.lists(st.integers(0, 10**7), min_size=2), st.integers(0, 5000), st.integers(0, 5000))
def test_chunks_never_grow_with_the_document(sizes: list[int], size: int, large: int) -> None:
    rules = ChunkRules(size=size, large_size=large)
    rooms = [rules.room_for(one) for one in sorted(sizes)]
    assert all(one >= other >= 1 for one, other in pairwise(rooms))
    assert all(rules.overlap_bytes_for(one) >= 0 for one in sizes)


@pytest.mark.parametrize(
    "other",
    [{"strategy": "token"}, {"size": 1}, {"overlap": 1}, {"large_size": 1}, {"large_bytes": 1}],
)
def test_every_rule_is_part_of_the_signature(other: dict[str, object]) -> None:
    assert ChunkRules(**other).signature != ChunkRules().signature  # type: ignore[arg-type]
    assert ChunkRules(**other).signature == ChunkRules(**other).signature  # type: ignore[arg-type]
