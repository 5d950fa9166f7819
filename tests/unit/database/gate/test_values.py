"""Values of the driver as plain values: vectors are left out wherever they stand."""

from __future__ import annotations

from neo4j.vector import Vector

from pgs_neo4j.database.gate.values import FEWEST_DIMENSIONS, plain_value

FLOATS = [0.5] * FEWEST_DIMENSIONS
SHOWN = f"{FEWEST_DIMENSIONS} numbers, which are left out; return fewer at a time"


def test_a_vector_is_left_out_of_maps_and_counted_elsewhere() -> None:
    assert plain_value({"a": FLOATS, "b": {"c": FLOATS, "d": 1}}) == {"b": {"d": 1}}
    assert plain_value([FLOATS, 1]) == [SHOWN, 1]
    assert plain_value(FLOATS) == SHOWN


def test_a_vector_of_its_own_type_is_left_out_however_short() -> None:
    vector = Vector.from_native([1.0, 2.0], "f32")
    assert plain_value({"a": vector}) == {}
    assert plain_value(vector) == "2 numbers, which are left out; return fewer at a time"


def test_short_lists_and_other_numbers_stay() -> None:
    assert plain_value(FLOATS[1:]) == FLOATS[1:]
    assert plain_value(list(range(100))) == list(range(100))
