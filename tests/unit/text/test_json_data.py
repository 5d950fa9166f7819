"""Values become JSON that loses nothing and harms no viewer."""

import enum
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from pgs_neo4j.text.json_data import json_text, plain_data


class Color(enum.StrEnum):
    RED = "red"


@dataclass(frozen=True)
class Point:
    x: float
    names: tuple[str, ...] = ()


@pytest.mark.parametrize(
    ("value", "data"),
    [
        (None, None),
        (0.12345678, 0.123457),
        (float("nan"), None),
        (Color.RED, "red"),
        (Point(1.0, ("a",)), {"x": 1.0, "names": ["a"]}),
        ({1: Point(2.0)}, {"1": {"x": 2.0, "names": []}}),
        (frozenset({3}), [3]),
        (np.float64(0.5), 0.5),
        (np.int64(4), 4),
        (np.array([[1.0, np.nan]]), [[1.0, None]]),
        (Path("a/b"), "a/b"),
    ],
)
def test_values_become_json_data(value: object, data: object) -> None:
    assert plain_data(value) == data
    assert json.loads(json_text(plain_data(value))) == data


def test_classes_are_text_and_not_taken_apart() -> None:
    assert plain_data(Point) == str(Point)


@pytest.mark.parametrize("ascii_only", [False, True])
def test_harmful_characters_are_escaped_and_come_back(ascii_only: bool) -> None:
    value = {"text": "é\x9b\u202e\u2028\ufeff\x1b[0m"}
    text = json_text(value, ascii_only=ascii_only)
    assert json.loads(text) == value
    assert not set(text) & set("\x9b\u202e\u2028\ufeff\x1b")
    assert text.isascii() == ascii_only


def test_numbers_outside_of_json_are_refused() -> None:
    with pytest.raises(ValueError, match="JSON"):
        json_text(float("nan"))
