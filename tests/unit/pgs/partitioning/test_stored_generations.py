"""A generation is read as it was stored, and never one that another program has changed."""

from __future__ import annotations

from typing import Any

import pytest

from pgs_neo4j.errors import StoredDataError
from pgs_neo4j.model import Generation
from pgs_neo4j.pgs.partitioning.rows import generation_of, generation_properties

GENERATION = Generation(
    id="g1", graph="papers", created_at="2026-01-01T00:00:00Z", algorithm="leiden",
    fingerprint="f", node_count=9, relationship_count=4, partition_count=2, modularity=-0.25,
    sizes=(5, 4), pooled_nodes=0, embedder=None, dimensions=None, issues={"nodes_without_text": 1},
    levels=(2,), seconds={"scan": 0.5}, settings="s", common=("a",), grown=0.125,
)  # fmt: skip
FIGURES = ("modularity", "raw_modularity", "conductance", "grown")
STORED: Any = {
    name: value
    for name, value in generation_properties(
        GENERATION, id="g1", created_at=GENERATION.created_at
    ).items()
    if value is not None
}


def test_it_is_read_as_it_was_stored() -> None:
    assert generation_of("papers", STORED) == GENERATION
    assert generation_of("papers", STORED | {"kept": 1, "sketch": None}) == GENERATION


@pytest.mark.parametrize("name", sorted(STORED))
@pytest.mark.parametrize(
    "value", [None, True, {"x": 1}, [None], [1.5, "x"], float("nan"), -1, 2**63 - 1, b"x", "["]
)
def test_a_property_that_another_program_wrote_is_refused(name: str, value: object) -> None:
    parsed = ("issues", "seconds", "origin", "knobs", "standing")
    is_text = isinstance(STORED[name], str) and name not in parsed
    if (is_text and isinstance(value, str)) or (name in FIGURES and value in (-1, 2**63 - 1)):
        assert generation_of("papers", STORED | {name: value}) is not None
        return
    with pytest.raises(StoredDataError, match=r"the generation of graph papers.*--force") as told:
        generation_of("papers", STORED | {name: value})
    assert name in str(told.value)


@pytest.mark.parametrize("name", sorted(STORED.keys() - {"knobs", "standing"}))
def test_a_property_that_is_missing_is_not_guessed(name: str) -> None:
    rest = {key: value for key, value in STORED.items() if key != name}
    with pytest.raises(StoredDataError, match=f"{name} is missing"):
        generation_of("papers", rest)  # type: ignore[arg-type]
