"""The misspelled values that the benchmark of linking draws."""

from __future__ import annotations

import random

import pytest

from tests.bench.value_linking import DRAWN, FAULTS, PROPERTIES, Values, misspell, misspell_values

VALUES: Values = {
    owner: [f"{owner[0]} {word}" for word in ("Harbor", "Kiln", "Lathe")] for owner in PROPERTIES
}


def test_the_same_values_are_misspelled_each_time_and_differ_from_all_values() -> None:
    drawn = misspell_values(VALUES, DRAWN)
    assert drawn == misspell_values(VALUES, DRAWN)
    assert {fault for fault, *_ in drawn} == set(FAULTS)
    assert all(value in VALUES[owner] for _, owner, value, _ in drawn)
    assert not any(written in VALUES[owner] for _, owner, _, written in drawn)


@pytest.mark.parametrize(
    ("fault", "change"), [("replaced", 0), ("dropped", -1), ("added", 1), ("swapped", 0)]
)
def test_a_fault_changes_one_letter(fault: str, change: int) -> None:
    for seed in range(20):
        written = misspell("Harbor 7", fault, random.Random(seed))
        assert len(written) == len("Harbor 7") + change
        assert written.endswith("7") or fault == "swapped"
