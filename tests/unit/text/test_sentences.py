from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgs_neo4j.text.sentences import (
    CODE_BLOCK,
    LONGEST,
    LONGEST_HEADING,
    cut_long,
    indent_of,
    read_lines,
    sentence_starts,
    split_sentences,
)

PIECES = st.sampled_from(
    ["Aa. ", "b! ", "e.g. ", "\n", "\n\n", "# ", "- ", "```", "---", "\t", "::\n", "    z", "字。"]
)
MORE = st.sampled_from(["\u201d", "\u0964 ", "x = 1\n", ">>> f()\n", "\u200b", "+--+\n", "| x |"])
TEXT = st.lists(st.one_of(PIECES, MORE, st.text(max_size=8)), max_size=60).map("".join)


def pieces(text: str, kind: str | None = None) -> list[str]:
    """The sentences of one kind, without the blanks around them."""
    split = split_sentences(text)
    return [text[s.start : s.end].strip() for s in split if kind in (None, s.kind)]


@given(TEXT)
def test_every_character_is_in_one_sentence_none_is_long_and_kinds_are_true(text: str) -> None:
    place = 0
    for sentence in split_sentences(text):
        assert sentence.start == place < sentence.end
        place = sentence.end
        words = text[sentence.start : sentence.end].strip()
        assert len(words) <= max(LONGEST, CODE_BLOCK)
        assert (sentence.level > 0) == (sentence.kind == "heading")
        assert sentence.kind != "rule" or not any(map(str.isalnum, words))
    assert place == len(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One here. Two there!  Three? four.", ["One here.", "Two there!", "Three? four."]),
        ("By Dr. J. Smith et al. in Fig. 3. Next.", ["By Dr. J. Smith et al. in Fig. 3.", "Next."]),
        ('He said "Go." Then he "went."', ['He said "Go."', 'Then he "went."']),
        ("**Bold end.** *Next* one. [Link](x).", ["**Bold end.**", "*Next* one.", "[Link](x)."]),
        ("Lines wrap\nhere. And\nhere.", ["Lines wrap\nhere.", "And\nhere."]),
        ("Wait... What?! Yes", ["Wait...", "What?!", "Yes"]),
        ("", []),
        (" \n ", [""]),
        ("我在北京。他在上海\uff01", ["我在北京。", "他在上海\uff01"]),
        ("「行く。」と言った。次。", ["「行く。」", "と言った。", "次。"]),
        ("هل هذا صحيح؟ نعم.", ["هل هذا صحيح؟", "نعم."]),
    ],
)
def test_prose_of_any_script(text: str, expected: list[str]) -> None:
    assert pieces(text) == expected


def test_headings_have_levels_and_stand_alone() -> None:
    text = "# One\nText here.\n## Two three\n\nTitle\n=====\n\nLower\n-----\nMore\n"
    split = [s for s in split_sentences(text) if s.kind == "heading"]
    assert [(text[s.start : s.end].split()[0], s.level) for s in split] == [
        ("#", 1),
        ("##", 2),
        ("Title", 1),
        ("Lower", 2),
    ]
    assert pieces(text, "prose") == ["Text here.", "More"]


def test_a_rule_below_a_paragraph_makes_no_heading() -> None:
    assert pieces("Line one\nline two\n---\n", "heading") == []
    assert pieces("- item\n---\n", "heading") == []


def test_items_fields_and_rows_are_sentences() -> None:
    text = "Intro:\n- First item. More of it.\n  wrapped\n- Second\n1. Third\n:param x: the x\n"
    assert pieces(text) == [
        "Intro:",
        "- First item.",
        "More of it.\n  wrapped",
        "- Second",
        "1. Third",
        ":param x: the x",
    ]
    table = "| A | B |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n"
    assert pieces(table, "row") == ["| A | B |", "| 1 | 2 |", "| 3 | 4 |"]
    assert pieces("a\tb\tc\n1\t2\t3\n", "row") == ["a\tb\tc", "1\t2\t3"]


def test_a_row_of_a_grid_may_have_several_lines() -> None:
    grid = "+---+---+\n| a | one |\n|   | two |\n+---+---+\n| b | x   |\n+---+---+\n"
    assert pieces(grid, "row") == ["| a | one |\n|   | two |", "| b | x   |"]


def test_code_is_kept_together_up_to_a_blank_line() -> None:
    fenced = "```py\nx = 1\n# no heading\n\ny = 2\n```\n"
    text = f"Text:\n{fenced}More text.\n>>> f(1)\n2\n\nEnd::\n\n    code\n"
    assert pieces(text, "code") == [
        "```py\nx = 1\n# no heading",
        "y = 2\n```",
        ">>> f(1)\n2",
        "code",
    ]
    assert pieces(text, "prose") == ["Text:", "More text.", "End::"]


def test_long_code_and_long_lines_are_cut() -> None:
    code = "```\n" + "value = compute(1);\n" * 200 + "```\n"
    assert all(len(piece) <= CODE_BLOCK for piece in pieces(code))
    assert len(pieces(code)) < 10
    words = " ".join(f"word{number}" for number in range(2000))
    assert {s.kind for s in split_sentences(words)} == {"data"}
    assert all(piece.startswith("word") for piece in pieces(words))


def test_cuts_of_a_long_line_stay_where_they_are_when_words_are_inserted() -> None:
    words = [f"w{number * 7919 % 10007}" for number in range(20_000)]
    before = set(pieces(" ".join(words)))
    after = set(pieces(" ".join([*words[:50], "inserted", *words[50:]])))
    assert len(after - before) <= 4


@pytest.mark.timeout(120)
@pytest.mark.parametrize(
    "unit", ["x", "x ", "Aa. ", ".)", "\n", "字。", "```\n", "| a ", "- b\n\n"]
)
def test_time_is_linear_in_the_text(unit: str) -> None:
    text = unit * (400_000 // len(unit))
    assert sum(s.end - s.start for s in split_sentences(text)) == len(text)


def split(text: str) -> list[str]:
    starts = [start for start, _ in sentence_starts(text, 0, len(text))]
    return [text[one:other].strip() for one, other in pairwise([*starts, len(text)])]


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("See e.g. The Times", 1),
        ("No. 5 is alive", 1),
        ("J. R. R. Tolkien", 1),
        ("In the U.S. Congress", 1),
        ("Gen. Lee and Capt. Kirk", 1),
        ("what? no capital follows", 1),
        ("version 1.2. of it", 1),
        ("1. First item", 1),
        ("http://a.b/c.D", 1),
        ("One. 2 more.", 2),
        ("One.) Two.", 2),
        ("One. (Two.) [Three.]", 3),
        ("One. *Two.* `Three.`", 3),
        ("Is it? Yes! Fine… Good.", 4),
        ("One. ¿Dos? Tres.", 3),
        ("3. One. Two.", 2),
    ],
)
def test_sentences_end_where_a_reader_sees_an_end(text: str, count: int) -> None:
    assert len(split(text)) == count


def test_a_part_of_the_text_is_split_without_the_rest() -> None:
    text = "Aa. Bb. Cc. Dd."
    assert [start for start, _ in sentence_starts(text, 4, 11)] == [4, 8]


def test_short_text_is_not_cut() -> None:
    assert list(cut_long("x" * LONGEST, 0, LONGEST)) == [(0, False)]


@pytest.mark.parametrize(
    ("text", "before"),
    [
        ("word " * 1000, " "),
        ("row of words\n" * 300, "\n"),
        ("x" * 5000, "x"),
        ("ab" * 3000, "a"),
    ],
)
def test_long_text_is_cut_before_lines_words_or_letters(text: str, before: str) -> None:
    places = [start for start, long in cut_long(text, 0, len(text)) if long]
    assert len(places) > 1
    assert all(other - one <= LONGEST for one, other in pairwise([*places, len(text)]))
    assert {text[place - 1] for place in places[1:]} == {before}


def kinds(text: str) -> list[str]:
    return [line.kind for line in read_lines(text)]


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("Plain words", "prose"),
        ("", "blank"),
        ("- item", "opener"),
        ("> quoted", "opener"),
        (":param x: the x", "opener"),
        ("name() -- what it does", "opener"),
        ("-5 degrees", "prose"),
        ("# Title", "heading"),
        ("#hashtag first", "prose"),
        ("# " + "x" * LONGEST_HEADING, "prose"),
        ("| a | b |", "row"),
        ("a\tb\tc", "row"),
        ("-----", "rule"),
        ("|---|---|", "rule"),
        ("def f(x):", "code"),
        ("import os", "code"),
        ("from os import path", "code"),
        ("from here to there", "prose"),
        ("x = compute(1)", "code"),
        ("run(1, 2)", "code"),
        ("</div>", "code"),
        (">>> 1 + 1", "code"),
        ("Traceback (most recent call last):", "code"),
    ],
)
def test_a_line_by_itself(line: str, kind: str) -> None:
    assert kinds(line + "\n") == [kind]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (">>> f()\nresult\n\nText\n", "code code blank prose"),
        ("So::\n\n    any words\n\n    more\nText\n", "prose blank code blank code prose"),
        ("~~~\n# x\n```\n- y\n~~~\n# Title\n", "code code code code code heading"),
        ("x" * 5000, "prose"),
        ("| " + "x" * 5000, "row"),
        (" " * 5000 + "x", "prose"),
    ],
)
def test_a_block_ends_with_a_blank_line_its_indent_or_its_own_mark(
    text: str, expected: str
) -> None:
    assert kinds(text) == expected.split()


def test_blank_lines_are_one() -> None:
    lines = list(read_lines("a\n\n\n\nb"))
    assert [(line.start, line.end, line.kind) for line in lines] == [
        (0, 2, "prose"),
        (2, 5, "blank"),
        (5, 6, "prose"),
    ]


def test_tabs_count_as_columns() -> None:
    assert indent_of("\tx") == 8
    assert indent_of("  x") == 2
    assert indent_of("x") == 0
