"""A resolver of one's own that raises, or returns something else, is named in a typed error."""

from __future__ import annotations

from typing import Any, cast

import pytest

from pgs_neo4j.documents.fold.own_resolver import OwnResolver
from pgs_neo4j.documents.fold.resolution import Resolver
from pgs_neo4j.errors import ModelError
from pgs_neo4j.text.variants.likeness import PresentName

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
        (["ada"], "blocks of the resolver Odd returned something else than a tuple of at most 5"),
        ((1,), "blocks of the resolver Odd returned something else than a tuple of at most 5"),
        (("ada",) * 6, "returned something else than a tuple of at most 5 texts or None"),
    ],
)
def test_blocks_of_another_kind_and_exceptions_are_named(given: object, said: str) -> None:
    with pytest.raises(ModelError) as caught:
        OwnResolver(cast(Resolver, Odd(given))).blocks(NAME)
    assert said in str(caught.value)


def test_a_kind_is_a_text_or_none() -> None:
    for kind in ("initials", None):
        assert OwnResolver(cast(Resolver, Odd(kind))).variant_kind(NAME, NAME) == kind
    with pytest.raises(ModelError, match="variant_kind of the resolver Odd returned something"):
        OwnResolver(cast(Resolver, Odd(True))).variant_kind(NAME, NAME)
    assert OwnResolver(cast(Resolver, Odd(None))).signature == "odd"
