"""What the name and the content of a property say about its role, and how names are quoted."""

from dataclasses import replace

import pytest

from pgs_neo4j.engine.survey import RelationshipProperty, candidates
from pgs_neo4j.engine.survey.values import quote_name
from pgs_neo4j.text.property_names import rank_name, split_words
from tests.unit.engine.survey.samples import label, name, number, of, text, vector


def test_names_fall_into_words_and_only_the_end_says_what_it_is():
    for called, parts in {
        "displayName": ("display", "name"),
        "HTTPBody_text2": ("http", "body", "text"),
        "titre-français": ("titre", "francais"),
        "Título": ("titulo",),
        "": (),
        "`'\"": (),
    }.items():
        assert split_words(called) == parts
    assert rank_name("display_name", ("title", "name")) == 1
    assert rank_name("full_name", ("fullname",)) == 0
    assert rank_name("name_id", ("title", "name")) is None
    assert rank_name("", ("title",)) is None


PAPER = label("Paper", text("body"), count=300)


ROLES = {
    candidates.is_prose: (
        (text("body"), True),
        (text("body", nodes=4), False),  # on 4 % of the sampled nodes
        (text("body", prose=49), False),  # less than half of it is natural language
        (replace(text("body"), distinct=4), False),  # almost always the same
    ),
    candidates.is_title: (
        (name("title"), True),
        (name("paper_title"), True),
        (name("title_id"), False),
        (name("title", nodes=49), False),
        (name("title", length=201.0), False),
        (replace(name("title"), texts=99), False),  # one value is no string
        (name("title", length=200.0), True),
    ),
    candidates.is_named_text: (
        (name("summary"), True),
        (name("colors"), False),
        (name("summary", nodes=4), False),
    ),
    candidates.is_key: (  # unique by constraint, or by name and content
        (name("doi"), True),
        (number("id", 1, 99), True),
        (number("id", 1, 99, type_="FLOAT"), False),
        (name("color"), False),
        (replace(name("color"), unique=True), True),
        (replace(name("doi"), distinct=99), False),
        (name("doi", nodes=98), False),
        (number("parent", 1, 100), False),
    ),
    lambda _, found: candidates.is_embedding(found): (
        (vector("embedding", (3, 10)), True),
        (vector("textVector", (3, 10)), True),
        (vector("x", (32, 10)), True),
        (vector("x", (31, 10)), False),
        (vector("embedding", (0, 10)), False),  # empty lists are most frequent
        (name("embedding"), False),
    ),
}


@pytest.mark.parametrize(
    ("role", "candidate", "expected"),
    [(role, *case) for role, cases in ROLES.items() for case in cases],
)
def test_name_and_content_say_what_a_property_is(role, candidate, expected):
    assert role(PAPER, candidate) is expected


def test_only_numbers_are_weights_and_relationships_have_weight_words_of_their_own():
    assert candidates.is_numeric(number("x", 0, 1))
    assert candidates.is_numeric(replace(number("x", 0, 1), types=("FLOAT", "INTEGER")))
    assert not candidates.is_numeric(replace(number("x", 0, 1), types=("INTEGER", "STRING")))
    assert not candidates.is_numeric(replace(number("x", 0, 1), types=()))
    assert candidates.is_weight(number("page_rank", 0, 1, type_="FLOAT"))
    assert not candidates.is_weight(number("rank", 1, 99))

    def numeric(called: str) -> RelationshipProperty:
        return RelationshipProperty(name=called, relationships=9, types=("FLOAT",))

    assert candidates.is_relationship_weight(numeric("similarity"))
    assert not candidates.is_relationship_weight(numeric("importance"))


def test_shares_weigh_labels_by_their_nodes_and_skip_labels_without_a_sample():
    many = label("Many", name("title", nodes=50), count=900)
    few = label("Few", name("title"), count=100)
    unseen = replace(label("Unseen", count=10**6), sampled=0)
    shares = candidates.sum_node_shares(of(many, few, unseen), candidates.is_title)
    assert shares == {"title": pytest.approx(0.45 + 0.1)}


def test_the_best_name_has_the_largest_share_then_the_best_word_then_the_alphabet():
    vocabulary = ("title", "name")
    assert candidates.choose_best({"name": 0.9, "title": 0.8}, vocabulary) == "name"
    assert candidates.choose_best({"name": 0.901, "title": 0.9}, vocabulary) == "title"
    assert candidates.choose_best({"b": 0.9, "a": 0.9}, vocabulary) == "a"
    assert candidates.choose_best({}, vocabulary) is None


def test_hostile_names_are_quoted_and_cut():
    assert quote_name("plain_name2") == "plain_name2"
    assert quote_name("a`b") == "'a`b'"
    assert quote_name("line\nbreak") == "'line\\nbreak'"
    assert len(quote_name("x" * 5000)) < 80
