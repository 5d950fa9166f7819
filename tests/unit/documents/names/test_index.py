"""The index of names: what is stored of a name."""

from __future__ import annotations

from pgs_neo4j.documents.fold.resolution import MOST_BLOCKS, VariantResolver
from pgs_neo4j.documents.names.index import IndexedName, name_row, placed_blocks
from pgs_neo4j.text.name_variants import PresentName, present_name


class ManyBlocks(VariantResolver):
    """A resolver with more blocks than there are indexes."""

    def blocks(self, name: PresentName) -> tuple[str | None, ...]:
        return tuple(f"{name.key} {place}" for place in range(MOST_BLOCKS + 3))


def test_blocks_beyond_the_indexes_are_left_out() -> None:
    paris = present_name("PARIS", "City", ["Paris"], sure=True)
    placed = placed_blocks(paris, ManyBlocks())
    assert placed == [(place, f"PARIS {place}") for place in range(MOST_BLOCKS)]
    row = name_row(IndexedName(paris, paris.named), ManyBlocks())
    assert sorted(key for key in row if key.startswith("block")) == [
        f"block_{place}" for place in range(1, MOST_BLOCKS + 1)
    ]
