"""Words, numbers, and quoted texts of questions."""

from __future__ import annotations

import pytest

from pgs_neo4j.pgs.querying.shapes.question_tokens import read_words


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("How many papers?", ["How", "many", "papers"]),
        ("papers by 'Ann Smith'.", ["papers", "by", "<Ann Smith>"]),
        ('"a" \u201cb c\u201d \u2018d\u2019 `e`', ["<a>", "<b c>", "<d>", "<e>"]),
        ("who wrote 'Ocean's Eleven'?", ["who", "wrote", "<Ocean's Eleven>"]),
        ("O'Neil's papers don't", ["O'Neil", "'s", "papers", "don't"]),
        ("over $1,500,000 and 2.5, not 12%", ["over", 1500000, "and", 2.5, ",", "not", "12", "%"]),
        ("on 2020-05-01 in the 1990s", ["on", "2020-05-01", "in", "the", "1990s"]),
        ("the imdb_rating, e.g. Sci-Fi", ["the", "imdb_rating", ",", "e.g", ".", "Sci-Fi"]),
        ("an 'open quotation", ["an", "'", "open", "quotation"]),
        ("   ?!", []),
    ],
)
def test_a_question_is_divided(question: str, words: list[str | int | float]) -> None:
    shown = [
        f"<{word.text}>"
        if word.kind == "quoted"
        else word.text
        if word.value is None
        else word.value
        for word in read_words(question)
    ]
    assert shown == words


def test_words_have_their_places() -> None:
    question = "papers by 'Ann Smith' in 2020"
    words = read_words(question)
    assert [question[word.start : word.end] for word in words][2:4] == ["'Ann Smith'", "in"]
    assert (words[2].lower, words[3].lower) == ("", "in")
