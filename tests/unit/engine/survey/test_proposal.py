"""What a survey suggests, which properties become weights, embedding, and facts; no database."""

from dataclasses import replace

from pgs_neo4j.engine.survey import LabelSample, RelationshipProperty, propose
from pgs_neo4j.engine.survey.shapes import count_shapes, shape_of
from pgs_neo4j.engine.survey.weighing import (
    PropertyChoice,
    choose_embedding,
    choose_relationship_text,
    choose_relationship_weight,
    choose_weight,
    count_embedding_sizes,
)
from pgs_neo4j.model import GraphMapping
from tests.unit.engine.survey.samples import (
    FORUM,
    IDEAS,
    label,
    link,
    name,
    number,
    of,
    text,
    vector,
)


def test_a_heterogeneous_graph_joins_the_texts_of_all_labels_short_before_long():
    proposal = propose(FORUM)
    assert proposal.mapping == GraphMapping(
        text=("name", "display_name", "title", "body"),
        title="title",
        key="uuid",
        titles=("User.display_name", "Tag.name"),
        keys=("Tag.tag_id",),
    )
    assert "no text on Comment; these nodes count for structure only" in proposal.notes
    assert any(
        "score is not proposed as weight" in note and "23 %" in note for note in proposal.notes
    )
    assert propose(IDEAS).mapping == GraphMapping(
        text=("concept",),
        key="id",
        weight="weight",
        relationship_weight="weight",
        embedding="embedding",
    )


def test_a_key_that_people_can_read_replaces_a_title_that_many_nodes_share():
    shared = replace(name("name"), distinct=20)
    spoken = name("id", length=30.0)
    proposal = propose(of(label("Function", shared, spoken, text("doc"))))
    assert (proposal.mapping.title, proposal.mapping.key) == ("id", "id")
    assert proposal.mapping.text == ("name", "doc")
    assert "title of Function: id, because many nodes share their name" in proposal.notes
    code = replace(spoken, longest=30)  # all of one length: made by a machine
    assert propose(of(label("Function", shared, code, text("doc")))).mapping.title == "name"
    own = replace(shared, distinct=95)
    assert propose(of(label("Function", own, spoken, text("doc")))).mapping.title == "name"


def test_a_graph_without_properties_keeps_its_structure():
    proposal = propose(of(label("Thing"), link("LINKS")))
    assert proposal.mapping == GraphMapping()
    assert "no property looks like text" in proposal.notes
    assert any(note.startswith("no property identifies every node") for note in proposal.notes)
    named = propose(of(label("Idea", name("concept"), name("color"))))  # no prose, but called text
    assert (named.mapping.text, named.mapping.title) == (("concept",), None)


def test_a_label_that_was_not_sampled_is_not_called_silent_and_unlabeled_nodes_are_named():
    rare = LabelSample(label="Rare", count=3)
    unlabeled = label("", number("x", 1, 2))
    notes = propose(of(label("Paper", text("abstract")), rare, unlabeled)).notes
    assert not any("Rare" in note for note in notes)
    assert any(note.startswith("no text on (no label)") for note in notes)


def test_a_constraint_makes_a_key_of_any_name():
    email = replace(name("email"), unique=True)
    assert propose(of(label("User", email, name("id")))).mapping.key == "email"
    elsewhere = label("Other", name("id"), count=5000)
    assert propose(of(label("User", email, name("id")), elsewhere)).mapping.key == "id"


def test_what_is_a_weight():
    for called in ("weight", "pageRank", "page_rank", "Importance", "node-score"):
        found = number(called, 0.0, 4.5, type_="FLOAT")
        assert propose(of(label("Thing", found))).mapping.weight == called


def test_what_is_no_weight():
    for found in (
        number("weight_id", 1, 99),
        number("score_updated_at", 1, 99),
        number("created", 1, 99),
        number("rank", 1, 99),  # a place in an order: the first is the best
        number("weight", 0, 9, type_="STRING"),
    ):
        assert propose(of(label("Thing", found))).mapping.weight is None


def test_the_embedding_with_the_most_nodes_wins_and_mixed_sizes_are_told():
    mixed = of(label("A", vector("embedding", (384, 60), (512, 5)), vector("v", (3, 90))))
    proposal = propose(mixed)
    assert proposal.mapping.embedding == "embedding"
    note = next(note for note in proposal.notes if note.startswith("embedding"))
    assert "384 dimensions, on 65 % of the nodes" in note
    assert "(512)" in note
    assert choose_embedding(of(label("A", vector("embedding", (8, 9))))).name is None
    assert choose_embedding(of(label("A", vector("embedding", (8, 10))))).name == "embedding"


def test_an_unusable_weight_is_named_with_the_reason():
    for candidate, reason in (
        (number("score", 0, 9, nodes=40), "it is on 40 % of the nodes only"),
        (number("score", -2, 9), "it has values below zero (-2)"),
        (number("score", 3, 3), "it is the same everywhere (3)"),
    ):
        choice = choose_weight(of(label("Thing", candidate)))
        assert choice.name is None
        assert choice.notes == (
            f"score is not proposed as weight, because {reason}",
            "no weight: nodes with more relationships rank higher",
        )


def test_the_range_of_a_weight_spans_all_labels():
    below = of(label("A", number("score", 1, 9)), label("B", number("score", -1, 2)))
    assert choose_weight(below).name is None
    constant = of(label("A", number("score", 1, 1)), label("B", number("score", 2, 2)))
    assert choose_weight(constant).name == "score"


def test_a_relationship_weight_needs_half_of_all_relationships():
    score = RelationshipProperty(
        name="score", relationships=100, types=("FLOAT",), least=0.1, greatest=1.0
    )
    rare = of(link("A", score, count=400), link("B", count=600))
    choice = choose_relationship_weight(rare)
    assert choice.name is None
    assert any("40 % of the relationships" in note for note in choice.notes)
    nothing = choose_relationship_weight(of(label("A")))
    assert nothing.notes == ("no relationship weight: all relationships count the same",)
    most = of(link("A", score, count=600), link("B", count=400))
    choice = choose_relationship_weight(most)
    assert choice.name == "score"
    assert choice.notes == ("relationship weight: score, on 60 % of the relationships",)


def test_what_relationships_state_is_read():
    summary = stated("summary", "Slapstick redeemed only by the fine supporting cast")
    roles = stated("roles", "Old Tom (voice); Herself")
    film = of(label("Movie", name("title")), link("ACTED_IN", roles), link("REVIEWED", summary))
    proposal = propose(film)
    assert proposal.mapping.relationship_text == "summary"
    note = "relationship text: summary, on REVIEWED; a graph has one, so roles would replace it"
    assert note in proposal.notes
    cast = of(label("Movie", name("title")), link("ACTED_IN", roles), link("DIRECTED"))
    assert propose(cast).mapping.relationship_text == "roles"


def test_codes_and_kinds_on_relationships_are_not_read():
    for property_ in (
        stated("link", "same name and registration date as", distinct=2),
        stated("valid_until", "The registry data is current through early 2018"),
        stated("credit_id", "52fe4459c3a36847f8090d7d"),
        stated("quantity", "34.80"),
        stated("department", "Production"),
        stated("role", "https://example.com/roles/7"),
    ):
        assert choose_relationship_text(of(link("LINKS", property_))) == PropertyChoice(None)


def stated(called: str, value: str, distinct: int = 100):
    prose = 100 if shape_of(value) == "prose" else 0
    return RelationshipProperty(
        name=called,
        relationships=100,
        types=("STRING",),
        distinct=distinct,
        texts=100,
        mean_length=float(len(value)),
        prose=prose,
        shapes=count_shapes([value]),
    )


def test_embedding_sizes_add_up_over_the_labels():
    two = of(
        label("A", vector("embedding", (8, 10), (4, 1)), vector("other", (2, 5))),
        label("B", vector("embedding", (8, 7))),
    )
    assert count_embedding_sizes(two, "embedding") == {8: 17, 4: 1}
    assert count_embedding_sizes(two, "absent") == {}
