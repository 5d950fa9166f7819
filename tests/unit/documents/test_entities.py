"""Which entity a text means, and how each of its names came to it."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

import pytest

from pgs_neo4j.documents.entities import Joined, explain_names, find_entity
from pgs_neo4j.documents.fold.contribution import (
    Contribution,
    EntityMention,
    Named,
    contribution_of,
)
from pgs_neo4j.documents.fold.folding import NameTallies, belonging_of
from pgs_neo4j.documents.fold.resolution import Resolution, VariantResolver, resolve
from pgs_neo4j.documents.fold.rulings import Ruled, Ruling, rulings_in_force
from pgs_neo4j.errors import UsageError
from pgs_neo4j.text.extraction.names import normalize_name
from tests.documents import random_extraction, random_rulings
from tests.fakes.database import FakeDatabase, Row
from tests.thorough import tries

MARIE, PARIS, HERO = ("MARIE_CURIE", "Person"), ("PARIS", "City"), ("PARIS", "Person")


def row(key: str, kind: str, entity: tuple[str, str]) -> Row:
    return {"key": key, "type": kind, "entity_key": entity[0], "entity_type": entity[1]}


ROWS = [
    row("MARIE_CURIE", "Person", MARIE),
    row("M._CURIE", "Person", MARIE),
    row("PARIS", "City", PARIS),
    row("PARIS", "Person", HERO),
    row("LUTETIA", "Person", PARIS),
    row("ODE:_TO_JOY", "Work", ("ODE:_TO_JOY", "Work")),
]


def database() -> Any:
    return FakeDatabase(find=lambda params: [one for one in ROWS if one["key"] in params["keys"]])


@pytest.mark.parametrize(
    ("wanted", "entity"),
    [
        ("Marie Curie", MARIE),
        ("  m.  curie ", MARIE),
        ("person:M. Curie", MARIE),
        ("entity:Person:M._CURIE", MARIE),
        ("City:Paris", PARIS),
        ("entity:Person:PARIS", HERO),
        ("City:Lutetia", PARIS),
        ("Person:Lutetia", PARIS),
        ("Ode: to Joy", ("ODE:_TO_JOY", "Work")),
        ("Work:Ode: to Joy", ("ODE:_TO_JOY", "Work")),
    ],
)
async def test_one_entity_is_meant(wanted: str, entity: tuple[str, str]) -> None:
    assert await find_entity(database(), "docs", wanted) == entity


async def test_an_id_means_its_entity_though_another_has_such_a_name() -> None:
    merged = row("PARIS", "Person", MARIE)
    db: Any = FakeDatabase(find=lambda params: [merged, row("PARIS", "Person", HERO)])
    assert await find_entity(db, "docs", "entity:Person:PARIS") == HERO


@pytest.mark.parametrize("wanted", ["Pierre", "City:Marie Curie", "", ":", "entity:", "Person:"])
async def test_an_entity_that_is_not_there_is_one_sentence(wanted: str) -> None:
    with pytest.raises(UsageError, match=r"graph docs has no entity .*; 'pgs entities list"):
        await find_entity(database(), "docs", wanted)


RESOLVER = VariantResolver()


def mention_of(name: str, kind: str = "Person") -> EntityMention:
    return EntityMention(key=normalize_name(name), type=kind, name=name)


def explained(*mentions: EntityMention, entity: str, ruled: Ruled | None = None) -> dict[str, str]:
    """How each name came to the entity, and by which other."""
    names = NameTallies().with_contributions([Contribution("c", mentions)])
    kind = mentions[0].type
    joined = explain_names(names, (normalize_name(entity), kind), ruled or {}, RESOLVER)
    return {
        f"{key} {own}": one.how if one.to == (key, own) else f"{one.how} {one.to[0]}"
        for (key, own), one in joined.items()
    }


CNN = "Convolutional Neural Network"


@pytest.mark.parametrize(
    ("short", "full", "kind", "how"),
    [
        ("M. Curie", "Marie Curie", "Person", "initials"),
        ("Curie, Marie", "Marie Curie", "Person", "spelling"),
        ("Marie Cruie", "Marie Curie", "Person", "typing error"),
        ("NATO", "North Atlantic Treaty Organization", "Organization", "acronym"),
        ("Acme", "Acme Inc.", "Organization", "company form"),
        ("CNN", CNN, "Concept", "definition"),
    ],
)
def test_a_variant_is_told_by_its_kind(short: str, full: str, kind: str, how: str) -> None:
    defined = replace(mention_of(full, kind), short=short if full == CNN else "")
    found = explained(defined, mention_of(short, kind), entity=full)
    key = normalize_name(full)
    assert found == {f"{key} {kind}": "leads", f"{normalize_name(short)} {kind}": f"{how} {key}"}


SHORT, CURIE, MARIA = ((key, "Person") for key in ("M._CURIE", "MARIE_CURIE", "MARIA_SKŁODOWSKA"))
PEOPLE = [mention_of(name) for name in ("Maria Skłodowska", "Marie Curie", "M. Curie")]


@pytest.mark.parametrize(
    ("mentions", "ruled", "joined"),
    [
        (
            [*[mention_of("Paris", "City")] * 3, mention_of("Paris")],
            {},
            {"PARIS City": "leads", "PARIS Person": "type PARIS"},
        ),
        (
            PEOPLE,
            {CURIE: Ruling(MARIA)},
            {
                "MARIA_SKŁODOWSKA Person": "leads",
                "MARIE_CURIE Person": "merged MARIA_SKŁODOWSKA",
                "M._CURIE Person": "initials MARIE_CURIE",
            },
        ),
        (PEOPLE[2:], {SHORT: Ruling(apart=True)}, {"M._CURIE Person": "apart"}),
        (PEOPLE[2:], {SHORT: Ruling(("NOBODY", "Person"))}, {"M._CURIE Person": "merged NOBODY"}),
    ],
)
def test_types_and_rulings_are_told_with_the_name_that_counts(
    mentions: list[EntityMention], ruled: Ruled, joined: dict[str, str]
) -> None:
    assert explained(*mentions, entity=mentions[0].name, ruled=ruled) == joined


@pytest.mark.parametrize("seed", range(tries(15, 40)))
def test_what_is_told_leads_every_name_to_its_entity(seed: int) -> None:
    random, ruled = Random(seed), dict[Named, Ruling]()
    chunks = [contribution_of(f"c{at}", random_extraction(random)) for at in range(6)]
    for _ in range(random.randint(0, 3)):
        ruled = {**random_rulings(random, ruled)}
    names = NameTallies().with_contributions(chunks)
    resolution = Resolution(RESOLVER, rulings_in_force(ruled))
    types = names.types(resolution.pinned)
    belonging = belonging_of(types, resolve(names.present(types).values(), resolution))
    for entity in {own for kinds in belonging.values() for own in kinds.values()}:
        own = NameTallies()
        for key, kinds in belonging.items():
            for kind, owner in kinds.items():
                if owner == entity:
                    own.of((key, kind)).merge(names.by_key[key][kind])
        joined = explain_names(own, entity, ruled, RESOLVER)
        assert {(key, kind) for key in own.by_key for kind in own.by_key[key]} == {*joined}
        assert "other" not in {one.how for one in joined.values()}
        assert all(leads_to(joined, named, entity, ruled) for named in joined)


def leads_to(joined: dict[Named, Joined], named: Named, entity: Named, ruled: Ruled) -> bool:
    """Whether a name leads to the entity by what is told of it."""
    passed = set[Named]()
    while named in joined and named not in passed:
        if named == entity:
            return True
        passed.add(named)
        named = joined[named].to
    # A name may have been merged into one that no chunk mentions: the fullest stands for it.
    return named in {one.into for one in ruled.values()}
