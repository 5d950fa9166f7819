"""What was judged once is stored with its verdict, and read back with it."""

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from pgs_neo4j.model import Citation, Quote
from pgs_neo4j.runs.verdicts import citations_json, citations_of, located, quotes_json, quotes_of
from tests.thorough import tries

words = st.text(st.characters(exclude_categories=("Cs",)), max_size=9)
citations = st.builds(
    Citation,
    alias=words,
    partition=st.integers(0, 9),
    node=st.none() | words,
    title=st.none() | words,
    valid=st.booleans(),
    element_id=st.none() | words,
    rank=st.none() | st.integers(0, 99),
)


@settings(max_examples=tries(25, 100))
@given(st.lists(citations, max_size=4).map(tuple))
def test_citations_come_back_as_they_were_but_for_what_only_this_database_knows(given_ones):
    stored = citations_json(given_ones)
    assert citations_of(stored, {}) == located(given_ones, {})
    assert all("element_id" not in each for each in json.loads(stored))
    assert [c.valid for c in citations_of(stored, {})] == [c.valid for c in given_ones]


def test_a_node_that_is_still_there_is_located_and_an_invalid_citation_never_is():
    there, gone = (Citation(alias=a, partition=4, node=a, rank=0) for a in ("n1", "n2"))
    invalid = Citation(alias="n1", partition=4, valid=False)
    found = citations_of(citations_json((there, gone, invalid)), {(4, "n1"): "e1"})
    assert [each.element_id for each in found] == ["e1", None, None]


@settings(max_examples=tries(25, 100))
@given(st.lists(st.builds(Quote, words, st.booleans()), max_size=4).map(tuple))
def test_quotes_come_back_with_their_verdicts(quotes):
    assert quotes_of(quotes_json(quotes)) == quotes
