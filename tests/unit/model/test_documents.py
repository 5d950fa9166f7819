from __future__ import annotations

from dataclasses import FrozenInstanceError

import pytest

from pgs_neo4j.model.documents import (
    Chunk,
    DocumentText,
    ExtractedEntity,
    ExtractedRelation,
    Extraction,
    GroundedEntity,
    GroundedExtraction,
    Sentence,
)


def test_an_entity_without_places_is_implicit() -> None:
    assert GroundedEntity(name="Ada", type="Person", sentences=(1,)).implicit
    assert not GroundedEntity(name="Ada", type="Person", spans=((0, 3),)).implicit


def test_values_are_equal_by_content_and_do_not_change() -> None:
    one = Chunk(index=0, start=0, end=1, text="x", hash="h", sentences=(Sentence(0, 1),))
    same = Chunk(index=0, start=0, end=1, text="x", hash="h", sentences=(Sentence(0, 1),))
    assert one == same
    assert hash(one) == hash(same)
    with pytest.raises(FrozenInstanceError):
        one.text = "y"  # type: ignore[misc]


def test_nothing_is_required_but_the_names() -> None:
    assert DocumentText(text="x").outline == ()
    assert ExtractedEntity(name="a", type="T").sentences == ()
    assert ExtractedRelation(source="a", target="b").weight == 1.0
    assert Extraction() == Extraction((), ())
    assert GroundedExtraction().dropped == {}
