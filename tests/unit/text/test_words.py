from __future__ import annotations

import pytest

from pgs_neo4j.text.words import phrases, stem, stems, words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("What is the event loop?", ["event", "loop"]),
        ("asyncio.create_task and HTTPServer", ["asyncio", "create", "task", "http", "server"]),
        ("In 2016, 12 bounds on Z2", ["2016", "bounds", "z2"]),
        ("don't x", []),
        ("Größe 知識グラフ", ["grösse", "知識グラフ"]),
    ],
)
def test_words_are_the_content_words(text: str, expected: list[str]) -> None:
    assert words(text) == expected


@pytest.mark.parametrize(
    "family",
    [
        ("parse", "parses", "parser", "parsers", "parsing", "parsed"),
        ("cancel", "cancels", "cancelled", "cancelling", "cancellation"),
        ("file", "files"),
        ("process", "processes", "processing", "processor"),
        ("determine", "determined", "determination", "determinations"),
    ],
)
def test_forms_of_a_word_share_their_stem(family: tuple[str, ...]) -> None:
    assert len({stem(word) for word in family}) == 1


@pytest.mark.parametrize("word", ["class", "status", "axis", "größe", "z2", "loss"])
def test_what_is_no_ending_stays(word: str) -> None:
    assert stem(word) == word


def test_different_words_stay_different() -> None:
    assert len(set(stems("socket server client thread lock queue event"))) == 7


def test_phrases_need_words_side_by_side() -> None:
    found = phrases("Stress-tensor bootstrap, spectra of the EventLoop")
    assert found == [("stress", "tensor"), ("tensor", "bootstrap"), ("event", "loop")]
