"""Only the values that were used last are kept."""

from __future__ import annotations

from pgs_neo4j.database.recent import Recent


def test_the_value_that_was_used_longest_ago_is_forgotten() -> None:
    recent: Recent[int] = Recent(2)
    recent.keep("a", 1)
    recent.keep("b", 2)
    assert recent.find("a") == 1
    recent.keep("c", 3)
    recent.keep("c", 4)
    assert recent.find("b") is None
    assert recent.find("a") == 1
    assert recent.find("c") == 4
