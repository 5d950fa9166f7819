"""Conditions on properties: how they are read, what they mean, and what is refused."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from pgs_neo4j.errors import ConditionError
from pgs_neo4j.text.conditions import (
    DEEPEST,
    MOST_SIGNS,
    list_properties,
    meets,
    parse_condition,
    write_condition,
)

REPORT: dict[str, Any] = {
    "year": 2021, "type": "report", "score": 0.5, "open": True, "peer reviewed": "yes",
    "published": date(2021, 3, 4), "tags": ["a"], "name.first": "Ada", "quote": "it's",
}  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        "year >= 2020 and type = 'report'",
        "YEAR is null and year is not null",
        "type in ['note', 'report'] and year in (2020, 2021)",
        "not type contains 'draft' and type starts with 're' and type ends with \"ort\"",
        "`peer reviewed` = 'yes' and open = true and open <> false and open != FALSE",
        "missing is null or missing = 1",
        "(year = 1 or year = 2021) and (type = 'x' or type = 'report')",
        "year = 1 and year = 2 or type = 'report'",
        "not (year < 2020 or score > 0.5)",
        "published >= '2021-03-04' and published = '2021' and published < '2022'",
        "score = 5e-1 and year = 2021.0",
        "name.first = 'Ada'",
        r"quote = 'it\'s' and quote = " + '"it\'s"',
    ],
)
def test_a_node_meets_a_condition(text: str) -> None:
    condition = parse_condition(text)
    assert meets(condition, REPORT)
    assert meets(parse_condition(write_condition(condition)), REPORT)


@pytest.mark.parametrize(
    "text",
    [
        "year > 2021",
        "missing = 1",
        "not missing = 1",
        "missing <> 1",
        "type > 5",
        "not type > 5",
        "year = '2021'",
        "open = 1",
        "type contains 'REPORT'",
        "tags = 'a'",
        "year contains '2'",
        "missing = 1 and year = 2021",
        "not (missing = 1 or year = 2021)",
    ],
)
def test_a_node_does_not_meet_a_condition(text: str) -> None:
    assert not meets(parse_condition(text), REPORT)


def test_and_binds_more_tightly_than_or_and_not_most() -> None:
    text = write_condition(parse_condition("not a = 1 and b = 2 or c = 3"))
    assert text == "((not (`a` = 1)) and (`b` = 2)) or (`c` = 3)"


def test_the_properties_are_listed_once_each() -> None:
    assert list_properties(parse_condition("b = 1 and not a = 2 or b = 3")) == ("b", "a")


def test_equal_conditions_have_one_spelling() -> None:
    spelled = {write_condition(parse_condition(text)) for text in ("a=1", "`a`  =  1", "(a = 1)")}
    assert len(spelled) == 1


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "ends where the name of a property"),
        ("year", "ends where a comparison"),
        ("year 2020", "'2020' at character 6"),
        ("year >= ", "ends where a number"),
        ("year = report", "'report' at character 8"),
        ("year = 2020 type = 'x'", "'type' at character 13"),
        ("(year = 2020", r"ends where '\)'"),
        ("year in []", r"'\]' at character 10"),
        ("year in 2020", r"is not '\('"),
        ("year contains 20", "not a text in quotation marks"),
        ("year starts 'x'", "is not 'with'"),
        ("year is 5", "is not 'null'"),
        ("year = 2020; DROP", "cannot be read"),
        ("year = 'open", "cannot be read"),
        ("n.year = $year", "cannot be read"),
        ("exists { (n)--() }", "cannot be read"),
        ("toUpper(type) = 'X'", r"'\(' at character 8"),
        ("year = 2020 // all", "cannot be read"),
        (r"year = 2020 \u006Fr true", "cannot be read"),
        ("year = 12abc", "cannot be read"),
    ],
)
def test_what_is_no_condition_is_refused_with_its_place(text: str, reason: str) -> None:
    with pytest.raises(ConditionError, match=reason):
        parse_condition(text)


def test_large_and_deep_conditions_are_refused() -> None:
    with pytest.raises(ConditionError, match="characters"):
        parse_condition(f"name = '{'x' * MOST_SIGNS}'")
    with pytest.raises(ConditionError, match="deep"):
        parse_condition("(" * (DEEPEST + 2) + "a = 1" + ")" * (DEEPEST + 2))
    with pytest.raises(ConditionError, match="deep"):
        parse_condition("not " * (DEEPEST + 2) + "a = 1")


def test_a_condition_of_many_parts_is_parsed() -> None:
    condition = parse_condition(" or ".join(f"year = {year}" for year in range(400, 900)))
    assert meets(condition, {"year": 899})
    assert not meets(condition, {"year": 900})
