"""What an entity is called comes back from its text as it was, or not at all."""

from __future__ import annotations

import json

import pytest

from pgs_neo4j.ingest.fold.called import dump_called, load_called
from pgs_neo4j.ingest.fold.contribution import EntityMention, Named
from pgs_neo4j.ingest.fold.tallies import EntityTally

CITY, HERO = ("PARIS", "City"), ("PARIS", "Person")


def tallied(*mentions: EntityMention) -> EntityTally:
    tally = EntityTally()
    for mention in mentions:
        tally.add(mention)
    return tally


def mention(name: str, text: str = "", *, short: str = "", sure: bool = True) -> EntityMention:
    return EntityMention(
        key="PARIS", type="City", name=name, description=text, short=short, sure=sure
    )


TALLIES: dict[Named, EntityTally] = {
    HERO: tallied(mention("Paris", sure=False)),
    CITY: tallied(
        mention("PARIS", "A city."), mention("Paris", "Old."), mention("Paris", short="P")
    ),
}


def test_tallies_are_read_as_they_were_written() -> None:
    assert load_called(dump_called(TALLIES), 4) == TALLIES


def test_the_text_depends_on_the_tallies_alone() -> None:
    turned = {
        CITY: tallied(
            mention("Paris", short="P"), mention("Paris", "Old."), mention("PARIS", "A city.")
        ),
        HERO: TALLIES[HERO],
    }
    assert dump_called(turned) == dump_called(TALLIES)
    assert [one["type"] for one in json.loads(dump_called(TALLIES))] == ["City", "Person"]


@pytest.mark.parametrize("mentions", [0, 3, 5])
def test_tallies_of_another_number_of_mentions_are_not_believed(mentions: int) -> None:
    assert load_called(dump_called(TALLIES), mentions) is None


@pytest.mark.parametrize("text", ["", "[", "{}", '[{"key": "PARIS"}]', '"PARIS"', "null"])
def test_a_text_that_somebody_else_wrote_is_not_believed(text: str) -> None:
    assert load_called(text, 0) is None
