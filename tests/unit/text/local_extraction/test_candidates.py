from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pgs_neo4j.model.documents import DocumentText
from pgs_neo4j.text.chunking import chunk_document
from pgs_neo4j.text.local_extraction.candidates import Candidate, count_candidates
from pgs_neo4j.text.local_extraction.ranks import best_terms
from pgs_neo4j.text.local_extraction.tokens import key_of
from tests.unit.text.conftest import chunk_of


def candidate(text: str, name: str) -> Candidate:
    return count_candidates(chunk_of(text))[key_of(name)]


def terms(text: str, most: int = 80) -> list[str]:
    return [one.name for one in best_terms(count_candidates(chunk_of(text)), most)]


def test_forms_are_counted_together_by_the_commonest() -> None:
    one = candidate("Graphs are fun. A graph helps. Many graphs. Graphs win.", "graph")
    assert one.count == 4
    assert one.name == "Graphs"
    assert one.sentences == [1, 2, 3, 4]


def test_capitals_count_inside_of_sentences_only() -> None:
    assert candidate("Rust is here. We like Rust.", "Rust").proper == 1
    assert candidate("Rust is here.", "Rust").proper == 0
    assert candidate("NASA is here.", "NASA").proper == 1
    assert candidate("# Like Rust\n", "Rust").proper == 0


def test_names_may_have_small_words_and_numerals_inside() -> None:
    found = terms("He left the University of Oslo after World War I and the love of his life.")
    assert "University of Oslo" in found
    assert "World War I" in found
    assert "love of his life" not in found


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("New York is large.", "New York"),
        ("He met William H. Seward at noon.", "William H. Seward"),
        ("It is a poem by W. B. Yeats about age.", "W. B. Yeats"),
        ("She led the Department of the West for long.", "Department of the West"),
        ("A Panel on Climate Change met.", "Panel on Climate Change"),
        ("The Academy of Arts and Sciences has it.", "Academy of Arts and Sciences"),
        ("They flew Apollo 8 around it.", "Apollo 8"),
        ("He fought in the Mexican\u2013American War at sea.", "Mexican\u2013American War"),
    ],
)
def test_names_are_whole(text: str, name: str) -> None:
    one = candidate(text, name)
    assert (one.name, one.nested) == (name, 0)
    assert one.proper
    assert name in terms(text)


@pytest.mark.parametrize(
    ("text", "none"),
    [
        ("New studies of rivers.", "New studies"),
        ("He went to New York.", "New"),
        ("We call the town New ", "New"),
        ("The University of the river.", "University of the"),
        ("It met in Congress on March 3.", "Congress on March"),
        ("He left London for Paris.", "London for Paris"),
        ("The Kings of Norway and Sweden met.", "Kings of Norway and Sweden"),
        ("The House of Commons and the Crown.", "Commons and the Crown"),
        ("There were Apollo, 8 of them.", "Apollo 8"),
        ("A row of Ten Plain Old Words That Have Capitals For No Reason Here.", "Ten"),
    ],
)
def test_what_only_looks_like_a_part_of_a_name_is_none(text: str, none: str) -> None:
    assert none not in terms(text)


def test_a_name_is_divided_from_the_words_before_it() -> None:
    found = count_candidates(chunk_of("She met the physicist Henri Becquerel there."))
    assert key_of("Henri Becquerel") in found
    assert key_of("physicist Henri Becquerel") not in found


def test_a_phrase_ends_where_anything_but_a_blank_stands() -> None:
    found = count_candidates(chunk_of("We use the graph, database (and language) model twice."))
    assert key_of("graph database") not in found
    assert key_of("language model") not in found


def test_a_phrase_counts_if_it_recurs_or_ends_a_noun() -> None:
    assert "query planner" in terms("Fast query planner code. Slow query planner code.")
    assert "query planner" in terms("This is in the query planner.")
    assert "planner quickly runs" not in terms("Planner quickly runs old things over again.")


def test_code_counts_by_words() -> None:
    text = "Text here.\n```\nconnect(host-name, port)\n```\n"
    one = candidate(text, "host-name")
    assert one.prose == 0
    assert candidate(text, "host").part
    assert key_of("connect host-name") not in count_candidates(chunk_of(text))


@pytest.mark.parametrize(
    "text", ["Use `foo bar` now.", "**Foo bar** it.", '"foo bar" is', "[foo bar](x)"]
)
def test_marked_words_are_known(text: str) -> None:
    assert candidate(text, "foo bar").marked


def test_headings_come_first() -> None:
    text = "# Compaction\n\nThere are many things, storage engines, trees, and logs in the text."
    assert terms(text, 1) == ["Compaction"]


def test_words_that_stand_in_a_name_only_come_last() -> None:
    text = "They saw the Nobel Prize. A Nobel Prize is big. Then the Nobel Prize again."
    assert terms(text)[0] == "Nobel Prize"
    ranked = terms(text)
    assert ranked.index("Nobel Prize") < ranked.index("Nobel")


def test_everyday_words_come_after_others() -> None:
    ranked = terms("The method has mitochondria and people and chloroplasts.")
    assert ranked.index("mitochondria") < ranked.index("people")
    assert ranked.index("chloroplasts") < ranked.index("method")


def test_there_are_at_most_as_many_as_asked_for() -> None:
    text = " ".join(f"We saw Name{number} there." for number in range(100))
    assert len(terms(text, 10)) == 10
    assert terms("?") == []


PIECES = st.sampled_from(
    ["Ada", "met", "the", "of", "graph", "Graphs", "`x`", ".", "\n", "#", "字典", "a.b"]
)


@settings(deadline=None)
@given(st.lists(PIECES, min_size=1, max_size=40).map(" ".join))
def test_counts_agree(text: str) -> None:
    for chunk in chunk_document(DocumentText(text=text)):
        for key, one in count_candidates(chunk).items():
            assert one.key == key
            assert one.count == sum(one.forms.values()) > 0
            assert {key_of(form) for form in one.forms} == {key}
            assert one.name in one.forms
            assert max(one.nested, one.proper, one.prose, one.noun) <= one.count
            assert one.sentences == sorted(set(one.sentences))
            assert all(1 <= number <= len(chunk.sentences) for number in one.sentences)
