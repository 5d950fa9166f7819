"""What a user reads of a value that pydantic refuses."""

from __future__ import annotations

import re
from enum import Enum
from typing import Annotated, Any, Literal, get_args

import pytest
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError
from pydantic_core.core_schema import ErrorType

from pgs_neo4j.text.invalid_values import (
    BOUNDS,
    KINDS,
    LENGTHS,
    OWN,
    UNKNOWN,
    describe_any,
    describe_invalid,
    name_place,
    suggest_name,
)

LETTERS = "^[a-z]+$"


class Color(Enum):
    RED = "red"


class Values(BaseModel):
    model_config = ConfigDict(extra="forbid")

    whole: int = 1
    positive: Annotated[int, Field(gt=0, lt=10)] = 1
    share: Annotated[float, Field(ge=0, le=0.5, allow_inf_nan=False)] = 0
    even: Annotated[int, Field(multiple_of=2)] = 2
    switch: bool = True
    text: str = ""
    name: Annotated[str, Field(min_length=1, max_length=1200)] = "a"
    code: Annotated[str, StringConstraints(pattern=LETTERS)] = "a"
    mode: Literal["full", "continue", "targeted"] = "full"
    order: Literal["up", "down"] = "up"
    color: Color = Color.RED
    names: Annotated[list[str], Field(min_length=2, max_length=3)] = ["a", "b"]
    pair: tuple[int, int] = (1, 2)
    table: dict[str, int] = {}


def refusals(**values: Any) -> list[Any]:
    with pytest.raises(ValidationError) as refused:
        Values(**values)
    return list(refused.value.errors())


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"whole": "many"}, "whole must be a whole number"),
        ({"whole": 1.5}, "whole must be a whole number"),
        ({"whole": "9" * 5000}, "whole must be a whole number with fewer digits"),
        ({"positive": 0}, "positive must be greater than 0"),
        ({"positive": 10}, "positive must be less than 10"),
        ({"share": -1}, "share must be at least 0"),
        ({"share": 1}, "share must be at most 0.5"),
        ({"share": "x"}, "share must be a number"),
        ({"share": float("nan")}, "share must be a number that is not infinite"),
        ({"even": 3}, "even must be a multiple of 2"),
        ({"switch": "perhaps"}, "switch must be true or false"),
        ({"text": 3}, "text must be a text"),
        ({"name": ""}, "name must not be empty"),
        ({"name": "x" * 1201}, "name must have at most 1,200 characters"),
        ({"code": "7"}, "code must be lower-case letters"),
        ({"mode": "x"}, "mode must be 'full', 'continue', or 'targeted'"),
        ({"mode": "Ful"}, "mode must be 'full', 'continue', or 'targeted'; did you mean 'full'?"),
        ({"order": 3}, "order must be 'up' or 'down'"),
        ({"color": "rd"}, "color must be 'red'; did you mean 'red'?"),
        ({"names": "a"}, "names must be a list"),
        ({"names": ["a"]}, "names must have at least 2 items"),
        ({"names": [*"abcd"]}, "names must have at most 3 items"),
        ({"pair": [1]}, "pair.1 is missing"),
        ({"table": []}, "table must have named values, as an object in JSON or a table in TOML"),
        ({"table": {"a": "secret"}}, "table.a must be a whole number"),
        ({"moode": 3}, "moode is unknown; did you mean mode?"),
    ],
)
def test_what_is_wrong_is_said_in_plain_words(values: dict[str, Any], said: str) -> None:
    detail = refusals(**values)[0]
    known, forms = [*Values.model_fields], {LETTERS: "lower-case letters"}
    assert describe_invalid(name_place(detail["loc"]), detail, known, forms) == said


def test_a_pattern_without_words_is_not_shown() -> None:
    said = describe_invalid("code", refusals(code="7")[0])
    assert said == "code does not have the right form"


def test_every_error_of_pydantic_has_own_words() -> None:
    explained = {*KINDS, *BOUNDS, *LENGTHS, *OWN, *UNKNOWN, "literal_error", "enum", "json_invalid"}
    for kind in get_args(ErrorType):
        if kind in explained:
            continue
        detail = {"type": kind, "msg": "Input should be a teapot", "ctx": {"pattern": "^x$"}}
        assert describe_invalid("it", detail) == "it does not have the right form", kind


def test_an_own_complaint_stands_as_written() -> None:
    detail = {"type": "value_error", "msg": "Value error, Leave it out", "loc": ("n",)}
    assert describe_invalid("n", detail) == "n: Leave it out"


def test_a_value_of_several_types_has_one_sentence() -> None:
    first, second = refusals(mode="Ful")[0], refusals(order="up and away")[0]
    assert describe_any("mode", [first, second]) == (
        "mode must be 'full', 'continue', 'targeted', 'up', or 'down'; did you mean 'full'?"
    )
    whole, text = refusals(whole="x")[0], refusals(text=3)[0]
    assert describe_any("it", [whole, text]) == "it must be a whole number, or must be a text"
    assert describe_any("it", [whole], none_allowed=True) == "it must be a whole number, or 'none'"
    nullable = describe_any("order", [second], none_allowed=True)
    assert nullable.startswith("order must be 'up', 'down', or 'none'")


def test_a_name_that_resembles_nothing_hears_the_names() -> None:
    assert suggest_name("qqq", ["one", "two"]) == "the names are one, two"
    assert suggest_name("qqq", ()) == "leave it out"
    many = suggest_name("qqq", [f"name{number}" for number in range(99)])
    assert many == "leave it out, or see the manual for the names"


def test_names_from_outside_are_short_and_printable() -> None:
    place = name_place(("a\x1b[31m\u202e", 2, "x" * 1000))
    assert place.isprintable()
    assert len(place) < 100
    assert re.fullmatch(r"a\\x1b\[31m\\u202e\.2\.x{60}", place)
    assert name_place((), "the body") == "the body"
