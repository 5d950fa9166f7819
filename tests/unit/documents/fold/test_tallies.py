"""What an entity is called comes back from its text as it was, or not at all."""

from __future__ import annotations

import pytest

from pgs_neo4j.documents.fold.contribution import EntityMention, Named
from pgs_neo4j.documents.fold.tallies import EntityTally, dump_called, load_called

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


@pytest.mark.parametrize(("mentions", "read"), [(3, None), (4, TALLIES), (5, None)])
def test_tallies_are_read_as_they_were_written_if_they_fit_the_mentions(
    mentions: int, read: dict[Named, EntityTally] | None
) -> None:
    assert load_called(dump_called(TALLIES), mentions) == read


def test_the_text_depends_on_the_tallies_alone() -> None:
    city = tallied(
        mention("Paris", short="P"), mention("Paris", "Old."), mention("PARIS", "A city.")
    )
    assert dump_called({CITY: city, HERO: TALLIES[HERO]}) == dump_called(TALLIES)


@pytest.mark.parametrize("text", ["", "[", "{}", '[{"key": "PARIS"}]', '"PARIS"', "null"])
def test_a_text_that_somebody_else_wrote_is_not_believed(text: str) -> None:
    assert load_called(text, 0) is None
