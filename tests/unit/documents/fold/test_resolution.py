"""Names become entities: of the present names alone, in any order, without chains."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgs_neo4j.documents.fold.resolution import OwnResolver, Resolution, Resolver, resolve
from pgs_neo4j.errors import ModelError
from pgs_neo4j.text.extraction.names import normalize_name
from pgs_neo4j.text.name_variants import PresentName, present_name
from tests.bench.variants import measure, plant


def present(name: str, kind: str = "Person") -> PresentName:
    return present_name(normalize_name(name), kind, [name], sure=True)


def entities(*names: str, kind: str = "Person", **rulings: str) -> dict[str, str]:
    ruled = {
        (normalize_name(name.replace("_", " ")), kind): (normalize_name(into), kind)
        for name, into in rulings.items()
    }
    found = resolve([present(name, kind) for name in names], Resolution(rulings=ruled))
    return {name: found[normalize_name(name), kind][0] for name in names}


@pytest.mark.parametrize("seed", [1, 2])
def test_planted_variants_are_found_and_traps_stay_apart(seed: int) -> None:
    planted = plant(seed)
    found = measure(planted)
    assert len(planted.traps) >= 200
    assert found.recall >= 0.85
    assert found.precision >= 0.99
    assert found.merged_traps == ()


JOHN, JANE, LANA = "John Smith", "Jane Smith", "Lana Wachowski"
NAMED = normalize_name(LANA)
WHO = "World Health Organization"


@pytest.mark.parametrize(
    ("names", "kind", "led"),
    [
        (("J. Smith", JOHN), "Person", {"JOHN_SMITH"}),
        (("J. Smith", JANE), "Person", {"JANE_SMITH"}),
        (("J. Smith", JOHN, JANE), "Person", {"J._SMITH", "JOHN_SMITH", "JANE_SMITH"}),
        ((LANA, "Lana Wachoswki", "Lana Wachowqski", "Lana Wahcowski"), "Person", {NAMED}),
        ((WHO, "WHO", f"{WHO} (WHO)", f"WHO ({WHO})"), "Organization", {normalize_name(WHO)}),
    ],
)
def test_names_join_the_fullest_one_that_they_fit_alone(
    names: tuple[str, ...], kind: str, led: set[str]
) -> None:
    assert {*entities(*names, kind=kind).values()} == led


def test_the_same_letters_come_first_and_variants_of_variants_stay_apart() -> None:
    assert len({*entities(LANA, "Wachowski, Lana", "Lana Wachoswki").values()}) == 1
    names = "Acme Foods", "Acme Foods Inc.", "Acme Foods Ltd."
    assert len({*entities(*names, kind="Organization").values()}) == 3


def defined(*names: str, kind: str = "Concept", **shorts: str) -> dict[str, str]:
    """The entities of names for which texts define abbreviations."""
    short_of = {name.replace("_", " "): short for name, short in shorts.items()}
    given = [replace(present(name, kind), short=short_of.get(name, "")) for name in names]
    found = resolve(given, Resolution())
    return {name: found[normalize_name(name), kind][0] for name in names}


def test_an_abbreviation_joins_the_name_that_a_text_defines_it_for() -> None:
    names = "CNN", "Convolutional Neural Network"
    assert defined(*names)["CNN"] == "CNN"
    full = "CONVOLUTIONAL_NEURAL_NETWORK"
    assert defined(*names, Convolutional_Neural_Network="CNN") == dict.fromkeys(names, full)
    assert defined("IoT", "Internet of Things", Internet_of_Things="IOT")["IoT"] == (
        "INTERNET_OF_THINGS"
    )
    assert defined("Cnn", names[1], Convolutional_Neural_Network="CNN")["Cnn"] == "CNN"


def test_a_definition_comes_before_letters_and_two_of_them_leave_it_open() -> None:
    names = "WHOA", "World Health Office Association", "Warsaw Heritage Order Archive"
    assert defined(*names)["WHOA"] == "WHOA"
    once = defined(*names, Warsaw_Heritage_Order_Archive="WHOA")
    assert once["WHOA"] == "WARSAW_HERITAGE_ORDER_ARCHIVE"
    both = {"Warsaw_Heritage_Order_Archive": "WHOA", "World_Health_Office_Association": "WHOA"}
    assert defined(*names, **both)["WHOA"] == "WHOA"


def test_a_person_and_a_term_by_statistics_have_abbreviations_by_definition_only() -> None:
    names = "JFK", "John Fitzgerald Kennedy"
    assert defined(*names, kind="Person")["JFK"] == "JFK"
    joined = defined(*names, kind="Person", John_Fitzgerald_Kennedy="JFK")
    assert joined["JFK"] == "JOHN_FITZGERALD_KENNEDY"
    terms = [
        present_name("NEURAL_NETWORK", "Concept", ["neural network"], sure=False, short="NN"),
        present_name("NN", "Concept", ["NN"], sure=False),
    ]
    assert {*resolve(terms, Resolution()).values()} == {("NEURAL_NETWORK", "Concept")}


def test_a_ruling_joins_names_and_others_follow_parts_them_and_waits_for_names_to_come() -> None:
    found = entities("J. Smith", "John Smith", "Bob Jones", John_Smith="Bob Jones")
    assert {*found.values()} == {"BOB_JONES"}
    assert entities("J Smith", "John Smith", J_Smith="J Smith")["J Smith"] == "J_SMITH"
    alone = entities("Ann Lee", "Bob Jones", Ann_Lee="Carl Orff", Bob_Jones="Carl Orff")
    assert {*alone.values()} == {"BOB_JONES"}
    assert entities("Ann Lee", Ann_Lee="Carl Orff") == {"Ann Lee": "ANN_LEE"}


NAMES = ("J. Smith", "John Smith", "Jane Smith", "Smith, John", "J Smith", "John Smtih", "Bob Ray")


@given(st.permutations(NAMES), st.integers(0, len(NAMES)), st.randoms())
def test_the_order_of_names_does_not_matter_and_every_entity_leads_itself(
    order: list[str], count: int, random: Random
) -> None:
    some = order[:count]
    found = entities(*some)
    assert found == entities(*random.sample(some, len(some)))
    keys = {normalize_name(name): entity for name, entity in found.items()}
    assert all(keys[entity] == entity for entity in found.values())


NAME = PresentName(key="ada", type="Person", sure=True)


class Odd:
    """Returns what it is given, or raises it."""

    signature = "odd"

    def __init__(self, given: object) -> None:
        self.given = given

    def blocks(self, name: PresentName) -> Any:
        if isinstance(self.given, Exception):
            raise self.given
        return self.given

    def variant_kind(self, one: PresentName, other: PresentName) -> Any:
        return self.blocks(one)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (KeyError("ada"), "the resolver Odd failed with KeyError: 'ada'"),
        (["ada"], "blocks of the resolver Odd did not return a tuple of at most 5"),
        ((1,), "blocks of the resolver Odd did not return a tuple of at most 5"),
        (("ada",) * 6, "did not return a tuple of at most 5 texts or None"),
    ],
)
def test_blocks_of_another_kind_and_exceptions_are_named(given: object, said: str) -> None:
    with pytest.raises(ModelError) as caught:
        OwnResolver(cast(Resolver, Odd(given))).blocks(NAME)
    assert said in str(caught.value)


def test_a_kind_is_a_text_or_none() -> None:
    for kind in ("initials", None):
        assert OwnResolver(cast(Resolver, Odd(kind))).variant_kind(NAME, NAME) == kind
    with pytest.raises(ModelError, match="variant_kind of the resolver Odd did not return a text"):
        OwnResolver(cast(Resolver, Odd(True))).variant_kind(NAME, NAME)
    assert OwnResolver(cast(Resolver, Odd(None))).signature == "odd"
