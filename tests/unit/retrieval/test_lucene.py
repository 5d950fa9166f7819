"""What a full-text index is asked, and which index may be."""

from hypothesis import given
from hypothesis import strategies as st

from pgs_neo4j.retrieval.lucene import covering, query
from pgs_neo4j.text.matching import SearchTerms


def index(**more):
    known = {"labels": ["Paper"], "properties": ["text", "title"]}
    return {"name": "papers", **known, "analyzer": "standard-no-stop-words"} | more


def test_an_index_must_know_every_label_and_property():
    assert covering([index()], ["Paper"], ["text"]) == "papers"
    assert covering([index(labels=["Paper", "Note"])], ["Paper"], ["title", "text"]) == "papers"
    assert covering([index()], ["Paper", "Note"], ["text"]) is None
    assert covering([index()], ["Paper"], ["text", "abstract"]) is None
    assert covering([index()], [], ["text"]) is None
    assert covering([], ["Paper"], ["text"]) is None


def test_an_index_that_keeps_other_words_than_ours_is_not_asked():
    for analyzer in ("keyword", "whitespace", "simple", "cjk", None):
        assert covering([index(analyzer=analyzer)], ["Paper"], ["text"]) is None


def test_every_combination_of_enough_terms_is_asked_for():
    asked = query(SearchTerms(("iron", "gold", "zinc"), 2), inside=False)
    assert asked.count(" OR (") == 2
    assert "(gold^4 OR gold*) AND (iron^4 OR iron*)" in asked


def test_words_are_looked_into_on_request_and_when_they_are_long():
    assert query(SearchTerms(("retries",), 1), inside=True) == "((retries^4 OR retr* OR *retr*))"
    assert query(SearchTerms(("ion",), 1), inside=True) == "((ion^4 OR ion*))"


def test_signs_of_unspaced_scripts_are_phrases():
    assert query(SearchTerms(("量子",), 1), inside=False) == '(("量子" OR *量子*))'


@given(st.lists(st.text(max_size=30), max_size=8), st.integers(0, 8), st.booleans())
def test_nothing_of_the_syntax_comes_from_a_term(terms, needed, inside):
    asked = SearchTerms(tuple(terms), needed)
    if asked.searchable:
        said = query(asked, inside=inside)
        assert not set(said) & set("+-&|!{}[]?:\\/<>=@#")
        assert said.count('"') % 2 == 0
        assert said.count("(") == said.count(")")


def test_a_great_many_terms_do_not_explode():
    terms = tuple(f"word{letter}" for letter in "abcdefghijklmnopqrst")
    assert len(query(SearchTerms(terms, 10), inside=True)) < 2000
