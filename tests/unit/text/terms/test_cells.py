"""What the database holds is unpacked up to a bound, and damage is one sentence."""

from __future__ import annotations

import json
import random
import tracemalloc
import zlib
from collections import Counter
from contextlib import suppress

import numpy as np
import pytest

from pgs_neo4j.errors import StoredDataError
from pgs_neo4j.text.terms import cells
from pgs_neo4j.text.terms.cells import TERM_BITS, pack, read_cell, unpack, write_cell
from pgs_neo4j.text.terms.labels import pack_counts, unpack_counts
from tests.thorough import tries

PLAIN = b"word " * 100
BITS = TERM_BITS - 32  # so that a term is its own rest
CELL = write_cell(
    np.array([1, 1, 7], np.uint32), np.array([2, 5, 3]), np.array([9, 8, 7], np.uint8), 1
)


def test_what_was_packed_comes_back() -> None:
    assert unpack(pack(PLAIN)) == unpack(bytearray(pack(PLAIN))) == PLAIN
    assert unpack(pack(PLAIN), len(PLAIN)) == PLAIN
    counts = Counter({"owl": 3, "\ud800": 1})
    assert unpack_counts(pack_counts(counts)) == counts


@pytest.mark.parametrize(
    "data",
    [None, 7, 10**12, "text", [1, 2], b"", b"\x00", pack(PLAIN)[:-5], pack(PLAIN) + b"x", PLAIN],
)
def test_anything_else_is_one_sentence(data: object) -> None:
    with pytest.raises(
        StoredDataError, match=r"another program.*'pgs partition --graph NAME --force'"
    ):
        unpack(data)


def test_a_bomb_is_not_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cells, "MOST_BYTES", 100_000)
    bomb = zlib.compress(bytes(50_000_000), 9)
    tracemalloc.start()
    for read in (unpack, unpack_counts, lambda data: read_cell(CELL[:2] + data, [1], 0)):
        with pytest.raises(StoredDataError):
            read(bomb)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 5_000_000


@pytest.mark.parametrize("counts", [[], 7, None, {"owl": "3"}, {"owl": None}, {"owl": True}])
def test_counts_of_another_form_are_refused(counts: object) -> None:
    with pytest.raises(StoredDataError):
        unpack_counts(pack(json.dumps(counts).encode()))


def test_a_cell_that_holds_other_than_it_says_is_refused() -> None:
    plain, chance = unpack(CELL[2:]), random.Random(7)
    assert [*read_cell(CELL, [1, 2, 7], BITS)] == [1, 7]
    huge = (1).to_bytes(4, "little") + bytes(4) + b"\xff" * 4  # four billion postings of a term
    for other in (b"", huge, plain[:-1], plain + b"x", b"\xff" * 4 + plain[4:]):
        with pytest.raises(StoredDataError):
            read_cell(CELL[:2] + pack(other), [0, 1], BITS)
    for _ in range(tries(300, 5_000)):
        changed = bytearray(plain)
        changed[chance.randrange(len(plain))] = chance.randrange(256)
        with suppress(StoredDataError):  # and nothing else
            read_cell(
                CELL[:1] + bytes((chance.randrange(256),)) + pack(bytes(changed)), [1, 7], BITS
            )
