"""Extractions in JSON, however a model names their members and wherever it lists them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgs_neo4j.model.documents import ExtractedEntity, ExtractedRelation
from pgs_neo4j.text.extraction.json_reply import read_json

ADA = {"name": "Ada", "type": "Person", "description": "A woman.", "sentences": [1, 3]}
LIVES = {
    "source": "Ada", "target": "London", "keywords": ["lives in", "home"],
    "description": "Ada lives there.", "sentences": "2-3", "weight": 0.5,
}  # fmt: skip


def items(value: Any) -> list[ExtractedEntity | ExtractedRelation]:
    return read_json(json.dumps(value)).items


@pytest.mark.parametrize(
    "renamed",
    [{"name": "entity_name", "type": "entity_type"}, {"name": "id", "type": "label"},
     {"sentences": "evidence", "description": "summary"}],
)  # fmt: skip
def test_other_names_of_members_are_understood(renamed: dict[str, str]) -> None:
    assert items([{renamed.get(key, key): value for key, value in ADA.items()}]) == items([ADA])


@pytest.mark.parametrize("ends", [("from", "to"), ("head", "tail"), ("subject", "object")])
def test_other_names_of_ends_are_understood(ends: tuple[str, str]) -> None:
    other = {ends[0]: "Ada", ends[1]: "London", **LIVES}
    del other["source"], other["target"]
    assert items([other]) == items([LIVES])


WRAPS = [
    lambda one: one,
    lambda one: [one],
    lambda one: {"a": [one]},
    lambda one: {"a": [{"b": [one]}]},
    lambda one: [[[one]]],
]


@pytest.mark.parametrize("wrap", WRAPS)
def test_records_are_found_wherever_they_are_listed(wrap: Any) -> None:
    assert items(wrap(ADA)) == items([ADA])


@pytest.mark.parametrize("weight", [True, "heavy", None, float("inf"), float("nan"), -3, 0])
def test_a_weight_that_cannot_be_used_is_1_and_others_are_bounded(weight: object) -> None:
    found = items([LIVES | {"weight": weight}, LIVES | {"weight": 10**9}])
    assert [one.weight for one in found if isinstance(one, ExtractedRelation)] == [1.0, 1e6]


def test_objects_that_are_no_records_are_counted() -> None:
    records = read_json(json.dumps([ADA, {"name": "it"}, {"source": "Ada", "target": "ada"}]))
    assert (len(records.items), records.dropped, records.complete) == (1, 2, True)


@given(st.integers(0, 400))
def test_any_cut_keeps_whole_objects_in_their_order(place: int) -> None:
    whole = json.dumps([{**ADA, "name": f"Ada {n}"} for n in range(5)])
    records = read_json(whole[:place])
    assert records.items == read_json(whole).items[: len(records.items)]
    assert len(records.items) == whole[:place].count("}")
    assert records.complete is (place >= len(whole))


@pytest.mark.parametrize(
    "member", ['"weight": 1e999', f'"weight": {"9" * 5000}', '"x": "' + "\\" * 1001]
)
def test_values_that_no_number_holds_raise_no_error(member: str) -> None:
    assert len(read_json('[{"source": "Ada", "target": "Bob", ' + member + "}]").items) <= 1


VALUE = st.sampled_from([None, True, 2.5, float("nan"), "x", [], [[1, "2"]], {}, {"name": "A"}])


@given(st.dictionaries(st.sampled_from(["name", "source", "target", "weight", "sentences"]), VALUE))
def test_members_of_any_kind_are_read_without_an_error(value: dict[str, Any]) -> None:
    for item in items([value, LIVES | value]):
        assert not isinstance(item, ExtractedRelation) or 0 < item.weight <= 1e6
        assert list(item.sentences) == sorted(set(item.sentences))
