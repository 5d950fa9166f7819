"""What a survey suggests: no database takes part."""

from dataclasses import replace

from pgs_neo4j.model import GraphMapping
from pgs_neo4j.survey import LabelSample, propose
from tests.unit.survey.samples import FORUM, IDEAS, label, link, name, number, of, text


def test_a_heterogeneous_graph_joins_the_texts_of_all_labels_short_before_long():
    proposal = propose(FORUM)
    assert proposal.mapping == GraphMapping(
        text=("title", "name", "display_name", "body"), title="title", key="uuid"
    )
    assert "no text on Comment; these nodes count for structure only" in proposal.notes
    assert any(
        "score is not proposed as weight" in note and "23 %" in note for note in proposal.notes
    )


def test_a_key_that_people_can_read_replaces_a_title_that_many_nodes_share():
    shared = replace(name("name"), distinct=20)
    spoken = name("id", length=30.0)
    proposal = propose(of(label("Function", shared, spoken, text("doc"))))
    assert (proposal.mapping.title, proposal.mapping.key) == ("id", "id")
    assert proposal.mapping.text == ("name", "doc")
    assert "title: id, because many nodes share their name" in proposal.notes
    code = replace(spoken, longest=30)  # all of one length: made by a machine
    assert propose(of(label("Function", shared, code, text("doc")))).mapping.title == "name"
    own = replace(shared, distinct=95)
    assert propose(of(label("Function", own, spoken, text("doc")))).mapping.title == "name"


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
    assert proposal.notes == ("the database has no nodes yet; load some first",)


def test_a_graph_without_properties_keeps_its_structure():
    proposal = propose(of(label("Thing"), link("LINKS")))
    assert proposal.mapping == GraphMapping()
    assert "no property looks like text" in proposal.notes
    assert any(note.startswith("no property identifies every node") for note in proposal.notes)
    named = propose(of(label("Idea", name("concept"), name("color"))))  # no prose, but called text
    assert (named.mapping.text, named.mapping.title) == (("concept",), None)


def test_a_label_that_was_not_sampled_is_not_called_silent():
    unseen = LabelSample(label="Rare", count=3)
    notes = propose(of(label("Paper", text("abstract")), unseen)).notes
    assert not any("Rare" in note for note in notes)


def test_unlabeled_nodes_are_named_as_such():
    notes = propose(of(label("Paper", text("abstract")), label("", number("x", 1, 2)))).notes
    assert any(note.startswith("no text on (no label)") for note in notes)


def test_the_title_on_most_nodes_wins_and_the_better_word_breaks_a_tie():
    many, few = label("A", name("name"), count=900), label("B", name("title"), count=100)
    assert propose(of(many, few)).mapping.title == "name"
    assert propose(of(label("A", name("name"), name("title")))).mapping.title == "title"


def test_a_constraint_makes_a_key_of_any_name():
    email = replace(name("email"), unique=True)
    assert propose(of(label("User", email, name("id")))).mapping.key == "email"
    elsewhere = label("Other", name("id"), count=5000)
    assert propose(of(label("User", email, name("id")), elsewhere)).mapping.key == "id"
