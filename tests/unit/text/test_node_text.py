"""Text, title, and key of a node, whatever its properties hold."""

import math
import random
from datetime import date

import pytest

from pgs_neo4j.model import Fact, Node
from pgs_neo4j.text.node_text import (
    TITLE_LENGTH,
    joined_text,
    node,
    number,
    searched_text,
    shortened,
)


def made_of(*, text: tuple[object, ...] = (), title: object = None, key: object = None) -> Node:
    return node(rank=3, element_id="4:x:7", labels=["Note"], text=text, title=title, key=key)


@pytest.mark.parametrize(
    ("values", "text"),
    [
        (["a", "b"], "a\n\nb"),
        ([" a ", "", None, "  ", "b"], "a\n\nb"),
        ([["a", None, "b"], 7], "a\nb\n\n7"),
        ([date(2024, 5, 1), True], "2024-05-01\n\nTrue"),
        ([b"bytes", bytearray(b"x")], ""),
    ],
)
def test_properties_are_joined_in_order_without_empty_ones(values: list[object], text: str) -> None:
    assert joined_text(values) == text


def fact(stated: object, target: str | None = "Rome", **more: object) -> dict[str, object]:
    return {"type": "R", "name": None, "fact": stated, "node": "4:x:1", "target": target} | more


@pytest.mark.parametrize(
    ("values", "text", "searched"),
    [
        (["a", fact("b")], "a\n\nR -> Rome: b", "a\n\nRome: b"),
        ([fact(" b\n c ", name="trades")], "R (trades) -> Rome: b c", "Rome: b c"),
        ([fact("b", name="R"), fact("b", None)], "R -> Rome: b\nR -> a node: b", None),
        ([fact("b"), fact("b")], "R -> Rome: b", "Rome: b"),
        ([fact("b", type="A"), fact("b", type="B")], "A -> Rome: b\nB -> Rome: b", "Rome: b"),
        ([fact(["b", " ", "c"]), fact(7)], "R -> Rome: 7\nR -> Rome: b; c", None),
        (["a", *map(fact, ("", " \n", [], [""], [0.5] * 40, b"x"))], "a", "a"),
        ([fact("b", "Rome\n" * 200)], f"R -> {'Rome ' * 18}Rome…: b", None),
    ],
)
def test_facts_are_lines_behind_the_properties(
    values: list[object], text: str, searched: str | None
) -> None:
    assert joined_text(values) == text
    assert searched is None or searched_text(values) == searched
    assert joined_text(random.sample(values, len(values))) == text


def test_a_node_has_the_facts_it_states_and_is_not_named_after_one() -> None:
    stated = made_of(text=(fact("b"), fact("")), key="k")
    assert (stated.title, stated.text) == ("k", "R -> Rome: b")
    assert stated.facts == (Fact("4:x:1", "b"),)
    assert made_of(text=("Own.", fact("b"))).title == "Own."


def test_finite_numbers_are_floats_and_nothing_else_is() -> None:
    assert [*map(number, (2, 0.5, -1))] == [2.0, 0.5, -1.0]
    assert all(map(math.isnan, map(number, (None, True, "2", math.inf, math.nan, [1.0]))))


def test_a_node_has_its_own_title_text_and_key() -> None:
    result = made_of(text=("First line.\nSecond.",), title=" The title ", key=17)
    assert (result.title, result.text, result.key) == ("The title", "First line.\nSecond.", "17")
    assert (result.rank, result.element_id, result.labels) == (3, "4:x:7", ("Note",))


def test_the_title_falls_back_to_text_then_key_then_label() -> None:
    assert made_of(text=("First line.\nSecond.",), key="k").title == "First line."
    assert made_of(key="k").title == "k"
    assert made_of().title == "Note 7"  # what all element ids share would look like words
    assert made_of().key == "4:x:7"


def test_a_long_title_is_cut() -> None:
    title = made_of(title="word " * 100).title
    assert len(title) <= TITLE_LENGTH
    assert title.endswith("word…")


@pytest.mark.parametrize(
    ("text", "length", "expected"),
    [
        ("one  two\nthree", 20, "one two three"),
        ("one two three", 10, "one two…"),
        ("abcdefghijkl", 5, "abcd…"),
        ("a bcdefghijkl", 8, "a bcdef…"),
    ],
)
def test_text_is_shortened_at_a_word_if_one_is_near(text: str, length: int, expected: str) -> None:
    assert shortened(text, length) == expected
    assert len(shortened(text, length)) <= length
