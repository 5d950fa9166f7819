"""What a mapping is warned of: no database takes part."""

from dataclasses import replace

import pytest

from pgs_neo4j.engine.catalog import check_mapping
from pgs_neo4j.engine.survey import NodeProperty, RelationshipProperty, propose
from pgs_neo4j.engine.survey.refusal import refuse_types
from pgs_neo4j.engine.survey.validation import NO_TEXT, check_survey
from pgs_neo4j.errors import MappingError
from pgs_neo4j.model import GraphMapping
from tests.unit.engine.survey.samples import FORUM, IDEAS, label, link, number, of, vector


def test_each_thing_that_is_not_there_gets_a_sentence():
    assert check_survey(FORUM, propose(FORUM).mapping) == []
    assert check_survey(IDEAS, propose(IDEAS).mapping) == []
    mapping = GraphMapping(
        labels=("Idea", "Nope"),
        relationship_types=("NEAR", "FAR"),
        text=("concept", "embedding"),
        title="heading",
        weight="tag",
        relationship_weight="cost",
        embedding="concept",
    )
    assert check_survey(IDEAS, mapping) == [
        "no node has the label Nope",
        "no relationship has the type FAR",
        "none of 100 sampled nodes has the property heading",
        "embedding is mapped as text but holds LIST<FLOAT>",
        "tag is mapped as weight but holds STRING",
        "concept is mapped as embedding but holds STRING",
        "none of 100 sampled relationships has the property cost",
    ]


def test_vectors_of_different_lengths_and_empty_ones_are_warned_of():
    mapping = GraphMapping(embedding="embedding")
    mixed = of(label("A", vector("embedding", (384, 75), (512, 25))))
    sentence = "embedding holds vectors of different lengths, 384 (75 %), 512 (25 %)"
    assert check_survey(mixed, mapping) == [NO_TEXT, f"{sentence}; only the first counts"]
    empty = of(label("A", vector("embedding", (0, 50))))
    held = "embedding is mapped as embedding but holds LIST<FLOAT>"
    assert check_survey(empty, mapping) == [NO_TEXT, held]


def test_a_text_may_be_made_of_numbers_dates_and_lists_of_strings():
    sample = label(
        "A",
        number("count", 1, 9),
        NodeProperty(name="at", nodes=100, types=("ZONED DATETIME",)),
        NodeProperty(name="tags", nodes=100, types=("LIST<STRING>",)),
        NodeProperty(name="spot", nodes=100, types=("POINT",)),
    )
    readable = GraphMapping(text=("count", "at", "tags"))
    assert check_survey(of(sample), readable) == []
    assert check_survey(of(sample), GraphMapping(text=("spot",))) == [
        "spot is mapped as text but holds POINT"
    ]


def test_what_a_relationship_holds_must_suit_its_role():
    score = RelationshipProperty(name="score", relationships=9, types=("FLOAT", "STRING"))
    vectors = RelationshipProperty(name="v", relationships=9, types=("LIST<FLOAT NOT NULL>",))
    odd = RelationshipProperty(name="fact", relationships=9, types=("STRING",))
    content = of(label("A"), link("R", score, vectors, odd))
    assert check_survey(content, GraphMapping(relationship_weight="score")) == [
        NO_TEXT,
        "score is mapped as relationship weight but holds FLOAT, STRING",
    ]
    mapping = GraphMapping(
        relationship_name="kind", relationship_text="fact", relationship_embedding="v"
    )
    missing = "none of 100 sampled relationships has the property kind"
    assert check_survey(content, mapping) == [missing], "a fact is text"
    assert check_survey(content, GraphMapping(relationship_text="v")) == [
        "v is mapped as relationship text but holds LIST<FLOAT NOT NULL>"
    ]
    wrong = GraphMapping(relationship_embedding="fact")
    assert check_survey(content, wrong)[1:] == [
        "fact is mapped as relationship embedding but holds STRING"
    ]
    with pytest.raises(MappingError, match="fact cannot be the relationship embedding, because"):
        refuse_types(content, wrong)


def test_passages_and_mentions_must_be_in_the_graph_and_exist():
    mapping = GraphMapping(labels=("A", "B"), chunk_labels=("B",), mention_types=("M",))
    check_mapping(mapping)
    with pytest.raises(MappingError, match=r"leaves 'C' out of the graph; add --label C, or"):
        check_mapping(replace(mapping, chunk_labels=("B", "C")))
    with pytest.raises(MappingError, match=r"add --relationship-type M, or"):
        check_mapping(replace(mapping, relationship_types=("R",)))
    mapping = GraphMapping(chunk_labels=("A", "Odd one"), mention_types=("R", "M"))
    assert check_survey(of(label("A"), link("R")), mapping) == [
        NO_TEXT,
        "no node has the label 'Odd one'",
        "no relationship has the type M",
    ]


def test_names_of_ours_and_empty_ones_are_refused():
    for reserved in (
        GraphMapping(labels=("PgsGraph",)),
        GraphMapping(labels=("Paper", "PgsNew")),
        GraphMapping(labels=("",)),
        GraphMapping(relationship_types=("PGS_IN",)),
        GraphMapping(chunk_labels=("PgsRun",)),
        GraphMapping(mention_types=("",)),
        GraphMapping(title=""),
    ):
        with pytest.raises(MappingError):
            check_mapping(reserved)
