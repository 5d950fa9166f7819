"""Hashes are fixed for ever: a stored generation is compared with them."""

from __future__ import annotations

import numpy as np
import pytest

from pgs_neo4j.graph.hashes import digest, encoded, hash64, mixed_with, text_hash, total

UINTS = np.array([1, 2, 2**63, 2**64 - 1], dtype=np.uint64)


@pytest.mark.parametrize(
    ("text", "value"),
    [("", 3797230976420062948), ("Ice", -270497501128307483), ("Ä 冰", 8421712525826664352)],
)
def test_text_hashes_are_what_stored_generations_hold(text: str, value: int) -> None:
    assert text_hash(text) == value


def test_digests_are_what_stored_generations_hold() -> None:
    assert digest(["content", {"b": 1, "a": None}]) == "5a773f45fe972b5e2baa35045f99de09"


def test_mixing_gives_what_stored_generations_hold() -> None:
    outer, inner = 16294208416658607535, 16162179534161681276
    assert mixed_with(UINTS, UINTS[::-1]).tolist() == [outer, inner, inner, outer]


def test_a_digest_does_not_depend_on_the_order_of_keys() -> None:
    assert digest({"a": 1, "b": 2}) == digest({"b": 2, "a": 1})
    assert digest([1, 2]) != digest([2, 1])
    assert len(digest(None)) == 32


@pytest.mark.parametrize("text", ["", "x", "Ice and snow", "\ud800", "a\udfff b", "\x00"])
def test_any_text_has_a_hash_that_the_database_can_store(text: str) -> None:
    assert -(2**63) <= text_hash(text) < 2**63
    assert text_hash(text) == hash64(encoded(text))
    assert text_hash(f"{text}\ud800") != text_hash(f"{text}\ud801")


def test_a_total_does_not_depend_on_order_and_wraps() -> None:
    assert total(UINTS) == total(UINTS[::-1]) == (1 + 2 + 2**63 + 2**64 - 1) % 2**64
    assert total(UINTS[:0]) == 0
