"""What a survey suggests, and what a mapping is warned of: no database takes part."""

from dataclasses import replace

import pytest

from pgs_neo4j.model import GraphMapping
from pgs_neo4j.survey import (
    LabelSample,
    NodeProperty,
    RelationshipProperty,
    Survey,
    TypeSample,
    propose,
)
from pgs_neo4j.survey.candidates import rank, words
from pgs_neo4j.survey.validation import check
from pgs_neo4j.survey.wording import percent, shown


def text(name: str, nodes: int = 100, length: float = 300.0, prose: int | None = None):
    return NodeProperty(
        name=name,
        nodes=nodes,
        types=("STRING",),
        distinct=nodes,
        texts=nodes,
        mean_length=length,
        longest=int(3 * length),
        prose=nodes if prose is None else prose,
    )


def name(called: str, nodes: int = 100, length: float = 12.0):
    return text(called, nodes, length, prose=0)


def number(called: str, least: float, greatest: float, nodes: int = 100, type_: str = "INTEGER"):
    return NodeProperty(
        name=called, nodes=nodes, types=(type_,), distinct=nodes, least=least, greatest=greatest
    )


def vector(called: str, *sizes: tuple[int, int]):
    nodes = sum(count for _, count in sizes)
    return NodeProperty(name=called, nodes=nodes, types=("LIST<FLOAT>",), sizes=sizes)


def label(called: str, *properties: NodeProperty, count: int = 1000):
    return LabelSample(label=called, count=count, sampled=100, properties=properties)


def link(called: str, *properties: RelationshipProperty, count: int = 1000):
    return TypeSample(type=called, count=count, sampled=100, properties=properties)


def of(*samples: LabelSample | TypeSample) -> Survey:
    labels = tuple(sample for sample in samples if isinstance(sample, LabelSample))
    types = tuple(sample for sample in samples if isinstance(sample, TypeSample))
    return Survey(
        nodes=sum(sample.count for sample in labels),
        relationships=sum(sample.count for sample in types),
        labels=labels,
        relationship_types=types,
    )


FORUM = of(
    label(
        "Question",
        text("body", length=1500.0),
        text("title", length=59.0, prose=98),
        name("link"),
        name("uuid"),
        number("view_count", 4, 900),
        number("creation_date", 1_580_000_000, 1_630_000_000),
    ),
    label("Answer", text("body", length=900.0), text("title", length=60.0), name("uuid")),
    label("Comment", number("score", 0, 3), name("link"), name("uuid")),
    label("User", name("display_name", length=10.0), name("uuid")),
    label("Tag", name("name", length=9.0), number("tag_id", 1, 99), count=300),
    link("ASKED"),
)
IDEAS = of(
    label(
        "Idea",
        text("concept"),
        name("tag"),
        number("id", 0, 99),
        number("weight", 0.2, 2.5, type_="FLOAT"),
        vector("embedding", (512, 100)),
    ),
    link(
        "NEAR",
        RelationshipProperty(
            name="weight", relationships=100, types=("FLOAT",), least=0.1, greatest=1.0
        ),
    ),
)


def test_a_heterogeneous_graph_joins_the_texts_of_all_labels_short_before_long():
    proposal = propose(FORUM)
    assert proposal.mapping == GraphMapping(
        text=("title", "name", "display_name", "body"), title="title", key="uuid"
    )
    assert "no text on Comment, whose nodes count for structure only" in proposal.notes
    assert any(
        "score is not proposed as weight" in note and "23 %" in note for note in proposal.notes
    )


def test_a_concept_graph_has_text_weights_and_vectors():
    assert propose(IDEAS).mapping == GraphMapping(
        text=("concept",),
        key="id",
        weight="weight",
        relationship_weight="weight",
        embedding="embedding",
    )


def test_nothing_is_proposed_for_an_empty_database():
    proposal = propose(of())
    assert proposal.mapping == GraphMapping()
    assert proposal.notes == ("the database holds no nodes yet, so load some first",)


def test_a_graph_without_properties_keeps_its_structure():
    proposal = propose(of(label("Thing"), link("LINKS")))
    assert proposal.mapping == GraphMapping()
    assert "no property looks like text" in proposal.notes


def test_a_label_that_was_not_sampled_is_not_called_silent():
    unseen = LabelSample(label="Rare", count=3)
    notes = propose(of(label("Paper", text("abstract")), unseen)).notes
    assert not any("Rare" in note for note in notes)


def test_unlabelled_nodes_are_named_as_such():
    notes = propose(of(label("Paper", text("abstract")), label("", number("x", 1, 2)))).notes
    assert any(note.startswith("no text on (no label)") for note in notes)


@pytest.mark.parametrize(
    "found",
    [
        text("payload", prose=10),  # mostly no prose: JSON, hashes, addresses
        replace(text("licence"), distinct=1),  # the same sentence everywhere
        text("remark", nodes=3),  # on 3 % of the nodes
        name("link"),
    ],
)
def test_what_is_no_text(found):
    assert propose(of(label("Thing", found))).mapping.text == ()


def test_short_strings_that_are_called_text_serve_where_there_is_no_prose():
    mapping = propose(of(label("Idea", name("concept"), name("colour")))).mapping
    assert mapping.text == ("concept",)
    assert mapping.title is None


def test_the_title_on_most_nodes_wins_and_the_better_word_breaks_a_tie():
    many, few = label("A", name("name"), count=900), label("B", name("title"), count=100)
    assert propose(of(many, few)).mapping.title == "name"
    assert propose(of(label("A", name("name"), name("title")))).mapping.title == "title"


def test_a_long_or_mixed_property_is_no_title():
    long = text("title", length=900.0)
    mixed = replace(name("name"), types=("INTEGER", "STRING"), texts=50)
    assert propose(of(label("A", long, mixed))).mapping.title is None


def test_a_constraint_makes_a_key_of_any_name():
    email = replace(name("email"), unique=True)
    assert propose(of(label("User", email, name("id")))).mapping.key == "email"
    elsewhere = label("Other", name("id"), count=5000)
    assert propose(of(label("User", email, name("id")), elsewhere)).mapping.key == "id"


@pytest.mark.parametrize(
    "found",
    [
        replace(name("id"), distinct=99),  # two nodes share one
        name("id", nodes=60),  # not on all nodes
        name("nickname"),
        number("parent", 1, 100),
    ],
)
def test_what_is_no_key(found):
    proposal = propose(of(label("Thing", found)))
    assert proposal.mapping.key is None
    assert any(note.startswith("no property tells all nodes apart") for note in proposal.notes)


@pytest.mark.parametrize("called", ["weight", "pageRank", "page_rank", "Importance", "node-score"])
def test_what_is_a_weight(called):
    found = number(called, 0.0, 4.5, type_="FLOAT")
    assert propose(of(label("Thing", found))).mapping.weight == called


@pytest.mark.parametrize(
    "found",
    [
        number("weight_id", 1, 99),
        number("score_updated_at", 1, 99),
        number("created", 1, 99),
        number("rank", 1, 99),  # a place in an order: the first is the best
        number("weight", -1, 99),
        number("weight", 1, 1),
        number("weight", 0, 9, nodes=40),
        number("weight", 0, 9, type_="STRING"),
    ],
)
def test_what_is_no_weight(found):
    assert propose(of(label("Thing", found))).mapping.weight is None


def test_a_weight_of_few_relationships_is_not_proposed():
    rare = RelationshipProperty(
        name="strength", relationships=30, types=("FLOAT",), least=0.1, greatest=1.0
    )
    proposal = propose(of(label("Thing"), link("LINKS", rare)))
    assert proposal.mapping.relationship_weight is None
    assert any("30 % of the relationships" in note for note in proposal.notes)


def test_the_embedding_with_the_most_nodes_wins_and_mixed_sizes_are_told():
    proposal = propose(
        of(label("A", vector("embedding", (384, 60), (512, 5)), vector("v", (3, 90))))
    )
    assert proposal.mapping.embedding == "embedding"
    note = next(note for note in proposal.notes if note.startswith("embedding"))
    assert "384 dimensions, on 65 % of the nodes" in note
    assert "(512)" in note


def test_a_long_list_of_numbers_is_an_embedding_under_any_name_and_a_short_one_is_not():
    assert propose(of(label("A", vector("features", (128, 90))))).mapping.embedding == "features"
    assert propose(of(label("A", vector("ratings", (5, 90))))).mapping.embedding is None
    assert propose(of(label("A", vector("embedding", (0, 90))))).mapping.embedding is None


def test_a_mapping_that_fits_is_not_warned_of():
    assert check(FORUM, propose(FORUM).mapping) == []
    assert check(IDEAS, propose(IDEAS).mapping) == []


def test_each_thing_that_is_not_there_gets_a_sentence():
    mapping = GraphMapping(
        labels=("Idea", "Nope"),
        relationship_types=("NEAR", "FAR"),
        text=("concept", "embedding"),
        title="heading",
        weight="tag",
        relationship_weight="cost",
        embedding="concept",
    )
    assert check(IDEAS, mapping) == [
        "no node has the label Nope",
        "no relationship has the type FAR",
        "none of 100 sampled nodes has the property heading",
        "embedding is meant as text and holds LIST<FLOAT>",
        "tag is meant as weight and holds STRING",
        "concept is meant as embedding and holds STRING",
        "none of 100 sampled relationships has the property cost",
    ]


def test_vectors_of_different_lengths_are_warned_of():
    mixed = of(label("A", vector("embedding", (384, 75), (512, 25))))
    sentence = "embedding holds vectors of different lengths, 384 (75 %), 512 (25 %)"
    warnings = check(mixed, GraphMapping(embedding="embedding"))
    assert warnings == [f"{sentence}; only the first counts"]


@pytest.mark.parametrize(
    ("called", "parts"),
    [
        ("displayName", ("display", "name")),
        ("HTTPBody_text2", ("http", "body", "text")),
        ("titre-français", ("titre", "français")),
        ("", ()),
        ("`'\"", ()),
    ],
)
def test_names_fall_into_words(called, parts):
    assert words(called) == parts


def test_only_the_end_of_a_name_says_what_it_is():
    assert rank("display_name", ("title", "name")) == 1
    assert rank("full_name", ("fullname",)) == 0
    assert rank("name_id", ("title", "name")) is None
    assert rank("", ("title",)) is None


def test_hostile_names_are_quoted_and_cut():
    assert shown("plain_name2") == "plain_name2"
    assert shown("a`b") == "'a`b'"
    assert shown("line\nbreak") == "'line\\nbreak'"
    assert len(shown("x" * 5000)) < 80


def test_a_share_never_rounds_to_none_or_all():
    assert [percent(x) for x in (0.0, 0.004, 0.5, 0.996, 1.0)] == [
        "0 %",
        "under 1 %",
        "50 %",
        "over 99 %",
        "100 %",
    ]
