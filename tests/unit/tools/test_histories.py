"""Which random histories ``--histories`` names."""

from __future__ import annotations

import pytest

from tests import thorough
from tests.thorough import histories, in_two_parts, parse_seeds


@pytest.mark.parametrize(
    ("text", "seeds"), [("3", [0, 1, 2]), ("41:44", [41, 42, 43]), ("0:1", [0])]
)
def test_a_number_or_two_name_seeds(
    text: str, seeds: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert [*parse_seeds(text)] == seeds
    monkeypatch.setenv(thorough.HISTORIES, text)
    assert [*histories(5, thorough=7)] == seeds


@pytest.mark.parametrize("text", ["0", "-1", "5:5", "6:5", "-2:3", "3:", ":3", "x", ""])
def test_what_names_no_history_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"names no history|invalid literal"):
        parse_seeds(text)


def test_without_it_there_are_as_many_as_tries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(thorough.HISTORIES, raising=False)
    monkeypatch.delenv(thorough.VARIABLE, raising=False)
    assert [*histories(2, thorough=7)] == [0, 1]
    monkeypatch.setenv(thorough.VARIABLE, "1")
    assert len(histories(2, thorough=7)) == 7


@pytest.mark.parametrize(
    ("seeds", "parts"),
    [(range(5), [range(2), range(2, 5)]), (range(2), [range(2)]), (range(7, 8), [range(7, 8)])],
)
def test_no_seed_is_lost_between_day_and_night(seeds: range, parts: list[range]) -> None:
    made = in_two_parts(seeds, first=2)
    assert [one.values[0] for one in made] == parts
    assert [[mark.name for mark in one.marks] for one in made] == [[], ["nightly"]][: len(parts)]
