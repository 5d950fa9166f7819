"""Pauses grow to a bound."""

from __future__ import annotations

from itertools import islice

import pytest

from pgs_neo4j.database.tasks import LONGEST_S, poll_pauses


def test_pauses_grow_to_the_longest() -> None:
    pauses = list(islice(poll_pauses(0.1), 9))
    assert pauses[:3] == pytest.approx([0.1, 0.16, 0.256])
    assert pauses == sorted(pauses)
    assert pauses[-1] == LONGEST_S
