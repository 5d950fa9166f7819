"""How each name came to its entity is told as it was decided."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from pgs_neo4j.documents.entities import Joined, explain_names
from pgs_neo4j.documents.fold.contribution import (
    Contribution,
    EntityMention,
    Named,
    contribution_of,
)
from pgs_neo4j.documents.fold.folding import NameTallies, belonging_of
from pgs_neo4j.documents.fold.resolution import Resolution, VariantResolver, resolve
from pgs_neo4j.documents.fold.rulings import Ruled, Ruling, rulings_in_force
from pgs_neo4j.text.extraction.names import normalize_name
from tests.documents import random_extraction, random_rulings
from tests.thorough import tries

RESOLVER = VariantResolver()


def mention(name: str, kind: str = "Person") -> EntityMention:
    return EntityMention(key=normalize_name(name), type=kind, name=name)


def told(*mentions: EntityMention, entity: str, ruled: Ruled | None = None) -> dict[str, str]:
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
    defined = replace(mention(full, kind), short=short if full == CNN else "")
    found = told(defined, mention(short, kind), entity=full)
    key = normalize_name(full)
    assert found == {f"{key} {kind}": "leads", f"{normalize_name(short)} {kind}": f"{how} {key}"}


SHORT, MARIE, MARIA = ((key, "Person") for key in ("M._CURIE", "MARIE_CURIE", "MARIA_SKŁODOWSKA"))
PEOPLE = [mention(name) for name in ("Maria Skłodowska", "Marie Curie", "M. Curie")]


@pytest.mark.parametrize(
    ("mentions", "ruled", "joined"),
    [
        (
            [*[mention("Paris", "City")] * 3, mention("Paris")],
            {},
            {"PARIS City": "leads", "PARIS Person": "type PARIS"},
        ),
        (
            PEOPLE,
            {MARIE: Ruling(MARIA)},
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
    assert told(*mentions, entity=mentions[0].name, ruled=ruled) == joined


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
        assert all(leads(joined, named, entity, ruled) for named in joined)


def leads(joined: dict[Named, Joined], named: Named, entity: Named, ruled: Ruled) -> bool:
    """Whether a name leads to the entity by what is told of it."""
    passed = set[Named]()
    while named in joined and named not in passed:
        if named == entity:
            return True
        passed.add(named)
        named = joined[named].to
    # A name may have been merged into one that no chunk mentions: the fullest stands for it.
    return named in {one.into for one in ruled.values()}
