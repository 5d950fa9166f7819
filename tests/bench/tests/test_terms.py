from __future__ import annotations

import pytest

from tests.bench.terms import loose, measure, readmes, stands


def test_recall_counts_names_that_are_terms():
    text = "The query planner of Neo4j is fast. We like Neo4j."
    recall, terms = measure([(text, {"neo4j", "query-planner", "zebra", "like"})], 80, misses=False)
    assert recall == pytest.approx(0.5)
    assert 2 <= terms <= 80


def test_a_tag_stands_as_a_word_with_hyphens_or_blanks():
    assert stands("spring-boot", "use spring boot here")
    assert stands("c++", "in c++ code")
    assert not stands("graph", "graphs")
    assert loose("Spring_Boot") == "spring-boot"


def test_links_of_readmes_stand_in_the_text():
    cases = [case for case in readmes() if case[1]]
    assert cases
    assert all(name in text for text, names in cases for name in names)
