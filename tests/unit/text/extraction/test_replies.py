from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgs_neo4j.model.documents import ExtractedEntity, ExtractedRelation, Extraction
from pgs_neo4j.text.extraction.names import name_fault
from pgs_neo4j.text.extraction.records import LONGEST_DESCRIPTION, LONGEST_TYPE, MOST_NUMBERS
from pgs_neo4j.text.extraction.replies import MOST_RECORDS, parse_reply, read_json
from tests.records import write_records

GOOD = """entity<|#|>Ada<|#|>Person<|#|>A woman of letters.<|#|>1,3
entity<|#|>London<|#|>Location<|#|>A city.<|#|>2
relation<|#|>Ada<|#|>London<|#|>lives in<|#|>Ada lives in London.<|#|>2-3
<|COMPLETE|>
"""


def test_a_good_reply() -> None:
    parsed = parse_reply(GOOD)
    assert parsed.complete
    assert parsed.form == "records"
    assert parsed.dropped == {}
    assert parsed.extraction.entities[0] == ExtractedEntity(
        name="Ada", type="Person", description="A woman of letters.", sentences=(1, 3)
    )
    assert parsed.extraction.relations == (
        ExtractedRelation(
            source="Ada",
            target="London",
            keywords=("lives in",),
            description="Ada lives in London.",
            sentences=(2, 3),
        ),
    )


@pytest.mark.parametrize(
    ("line", "sentences"),
    [
        ("entity<|#|>Ada<|#|>Person<|#|>A woman", ()),
        ("entity<|#|>Ada<|#|>Person<|#|>A woman<|#|>3\u20135<|#|>", (3, 4, 5)),
        ("  - Entity<|#|>Ada<|#|>Person<|#|>A woman<|#|>1", (1,)),
        ("2. **entity**<|#|>**Ada**<|#|>Person<|#|>A woman<|#|>1", (1,)),
        ('("entity"<|#|>"Ada"<|#|>"Person"<|#|>"A woman")', ()),
        ("entity<|#>Ada<#|>Person<||#||>A woman<|#|1", (1,)),
        ("entity<|>Ada<|>Person<|>A woman<|>1", (1,)),
        ("entity<|#|> Ada <|#|> Person <|#|>  A  woman <|#|> 1 ", (1,)),
    ],
)
def test_spoiled_records_are_read(line: str, sentences: tuple[int, ...]) -> None:
    expected = ExtractedEntity(
        name="Ada", type="Person", description="A woman", sentences=sentences
    )
    assert parse_reply(f"{line}\n<|COMPLETE|>").extraction.entities == (expected,)


@pytest.mark.parametrize(
    ("fields", "sentences", "weight"),
    [
        (["1", "0.8"], (1,), 0.8),
        (["1-2", "3"], (1, 2), 3.0),
        (["0.8"], (), 0.8),
        (["4"], (4,), 1.0),
        ([], (), 1.0),
    ],
)
def test_a_relation_may_have_a_weight(
    fields: list[str], sentences: tuple[int, ...], weight: float
) -> None:
    line = "<|#|>".join(["relation", "Ada", "London", "lives in", "She does.", *fields])
    (relation,) = parse_reply(f"{line}\n").extraction.relations
    assert (relation.sentences, relation.weight) == (sentences, weight)
    assert relation.description == "She does."


def test_records_on_one_line_are_taken_apart() -> None:
    glued = GOOD.replace("\n", "", 2)
    assert parse_reply(glued).extraction == parse_reply(GOOD).extraction
    assert parse_reply(GOOD.replace("\n", "")).extraction == parse_reply(GOOD).extraction
    tricky = "relation<|#|>Ada<|#|>Legal entity<|#|>owns<|#|>Ada owns it.<|#|>1\n"
    (relation,) = parse_reply(tricky).extraction.relations
    assert relation.target == "Legal entity"


def test_a_delimiter_in_a_description_is_mended() -> None:
    line = "entity<|#|>Ada<|#|>Person<|#|>A woman<|#|>of letters<|#|>1,2\n"
    (entity,) = parse_reply(line).extraction.entities
    assert (entity.description, entity.sentences) == ("A woman of letters", (1, 2))


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("entity<|#|>Ada<|#|>Person", "fields"),
        ("entity<|#|>a<|#|>b<|#|>c<|#|>d<|#|>e", "fields"),
        ("relation<|#|>Ada<|#|>London<|#|>lives", "fields"),
        ("entity<|#|><|#|>Person<|#|>x", "name"),
        ("relation<|#|>Ada<|#|>it<|#|>k<|#|>x", "name"),
        ("relation<|#|>Ada<|#|>the ada<|#|>k<|#|>x", "name"),
        (GOOD.split("\n")[0] + "\n" + GOOD.split("\n")[0], "repeated"),
    ],
)
def test_what_cannot_be_used_is_counted(line: str, reason: str) -> None:
    parsed = parse_reply(f"{line}\n<|COMPLETE|>")
    assert parsed.dropped == {reason: 1}
    assert parsed.complete


# Replies that were cut off
@pytest.mark.parametrize(
    ("last", "ended"),
    [
        ("", True),
        ("entity<|#|>Bob<|#|>Person<|#|>A man.<|#|>3", True),
        ("entity<|#|>Bob<|#|>Person<|#|>A man.<|#|>3,", False),
        ("entity<|#|>Bob<|#|>Person<|#|>A man.<|#|>", False),
        ("entity<|#|>Bob<|#|>Person<|#|>A man.", False),
        ("entity<|#|>Bob<|#|>Per", False),
        ("entity<|#|>she<|#|>Person<|#|>A name.<|#|>3", True),
        ("relation<|#|>Ada<|#|>London<|#|>saw<|#|>She did.<|#|>1<|#|>0.8", True),
        ("relation<|#|>Ada<|#|>Lond", False),
        ("entity", False),
        ("- ent", False),
        ("That was all", True),
        ("```", True),
        ("<|COMPL", True),
    ],
)
def test_a_reply_without_the_mark_has_ended_if_its_last_line_is_whole(
    last: str, ended: bool
) -> None:
    parsed = parse_reply(GOOD.partition("<|COMPLETE")[0] + last)
    assert (parsed.complete, parsed.ended) == (False, ended)
    assert parsed.records == 3 + (ended and ("Bob" in last or "saw" in last))
    lost = last.startswith(("entity", "relation")) and not ended
    assert parsed.dropped.get("cut off", 0) == lost


@pytest.mark.parametrize(
    ("lines", "ended"),
    [
        (["A woman.", "A man."], True),
        (["A woman.", "A m"], False),
        (["a woman", "a man"], True),  # as the line before, which is whole
        (["a man"], False),
        (["A man."], True),
        (["\u5979\u662f\u5973\u4eba\u3002", "\u4ed6\u662f\u7537\u4eba\u3002"], True),
    ],
)
def test_without_numbers_a_last_record_ends_as_the_others_do(lines: list[str], ended: bool) -> None:
    reply = "\n".join(
        f"entity<|#|>Person {number}<|#|>Person<|#|>{line}" for number, line in enumerate(lines)
    )
    assert parse_reply(reply).ended is ended
    assert parse_reply(reply).records == len(lines) - (not ended)


def test_records_after_the_mark_are_read_and_make_the_reply_incomplete() -> None:
    more = "entity<|#|>Bob<|#|>Person<|#|>A man<|#|>1\n"
    assert [one.name for one in parse_reply(GOOD + more).extraction.entities][2:] == ["Bob"]
    assert not parse_reply(GOOD + more).complete
    assert parse_reply(GOOD + more + "<|COMPLETE|>").complete
    assert parse_reply(GOOD + "That was all.").complete
    nothing = parse_reply("<|COMPLETE|>")
    assert (nothing.complete, nothing.form) == (True, "records")
    assert nothing.extraction == Extraction()


def test_neither_thoughts_nor_json_beside_records_are_read() -> None:
    thought = "<think>entity<|#|>Evil<|#|>Person<|#|>x<|#|>1\n<|COMPLETE|></think>\n"
    assert parse_reply(thought + GOOD + json.dumps(JSON)) == parse_reply(GOOD)


@pytest.mark.parametrize(
    "reply",
    ["", "I cannot help with that.", "\n\n", '{"error": "I cannot"}', "I cannot do {that", "{}"],
)
def test_no_answer_is_not_complete(reply: str) -> None:
    parsed = parse_reply(reply)
    assert (parsed.form, parsed.dropped, parsed.complete) == ("none", {}, False)
    assert parsed.extraction == Extraction()


# JSON
JSON = {
    "entities": [
        {"name": "Ada", "type": "Person", "description": "A woman", "sentences": [1, 3]},
        {"entity_name": "London", "entity_type": "Location", "sentences": "2"},
    ],
    "relationships": [
        {"source": "Ada", "target": "London", "keywords": ["lives in"], "weight": 0.8},
        {"subject": "Ada", "object": "Bob", "predicate": "knows", "fact": "They met."},
    ],
}


@pytest.mark.parametrize("wrap", ["%s", "```json\n%s\n```", "Here it is:\n%s\nDone.", "[%s]"])
def test_json_is_read_where_there_are_no_records(wrap: str) -> None:
    parsed = parse_reply(wrap % json.dumps(JSON, indent=1))
    assert parsed.form == "json"
    assert parsed.complete
    ada, london = parsed.extraction.entities
    assert (ada.name, ada.description, ada.sentences) == ("Ada", "A woman", (1, 3))
    assert (london.type, london.sentences) == ("Location", (2,))
    lives, knows = parsed.extraction.relations
    assert (lives.keywords, lives.weight) == (("lives in",), 0.8)
    assert (knows.keywords, knows.description) == (("knows",), "They met.")


@pytest.mark.parametrize(
    ("text", "complete", "ended", "dropped"),
    [
        ('{"entities": [{"name": "Ada"}]}', True, True, {}),
        ('{"name": "Ada"}\n{"name": "Bo', False, False, {"cut off": 1}),
        ('[{"name": "Ada"}, {"name": "Bob"},', False, False, {}),
        ('[{"name": "Ada"}, {"name": "Bob"},]', True, True, {}),  # all objects parse
        ('[{"name": "Ada"}, {"name": Bob}]', False, True, {"fields": 1}),
        ('{"entities": [{"name": "Ada"}, {"name": Bob}], "relations": [', False, False,
         {"fields": 1}),
        ('{"entities": [{"name": "Ad', False, False, {"cut off": 1}),
        ('{"entities": [{"name": "a } and ]"}, {"name": "Bob" "x"}]}', False, True, {"fields": 1}),
    ],
)  # fmt: skip
def test_json_is_complete_if_it_parses_to_its_end(
    text: str, complete: bool, ended: bool, dropped: dict[str, int]
) -> None:
    parsed = parse_reply(text)
    assert (parsed.form, parsed.complete, parsed.ended) == ("json", complete, ended)
    assert parsed.dropped == dropped


# Hostile replies
PIECES = st.sampled_from(
    [*GOOD.split("\n"), *json.dumps(JSON).split(" "), "<|#|>", "<|#>", "entity", "\n", "|", "1-"]
)


@given(st.lists(PIECES | st.text(max_size=9), max_size=30).map("".join))
def test_any_reply_is_read_without_an_error(reply: str) -> None:
    parsed = parse_reply(reply)
    assert parsed.dropped.keys() <= {"cut off", "fields", "name", "repeated"}
    assert all(name_fault(entity.name) is None for entity in parsed.extraction.entities)
    for relation in parsed.extraction.relations:
        assert relation.source != relation.target
        assert 0 < relation.weight < 1e7


def test_a_model_that_repeats_itself_is_bounded() -> None:
    same = "entity<|#|>Ada<|#|>Person<|#|>x<|#|>1\n" * 5000
    parsed = parse_reply(same)
    assert len(parsed.extraction.entities) == 1
    assert parsed.dropped == {"repeated": 4999}
    many = [ExtractedEntity(name=f"Name {n}", type="T") for n in range(MOST_RECORDS + 5)]
    parsed = parse_reply(write_records(Extraction(tuple(many))))
    assert len(parsed.extraction.entities) == MOST_RECORDS
    assert parsed.dropped == {"too many": 5}


@pytest.mark.timeout(120)
@pytest.mark.parametrize(
    "unit",
    ["entity<|#|>", "entity", "<|#|>", "<|", "1,", "<|COMPLETE|>", "{", '{"a":', "\\", "|", "#"],
)
def test_reading_takes_linear_time(unit: str) -> None:
    assert parse_reply(unit * (300_000 // len(unit))).extraction.entities == ()


def test_long_fields_are_cut() -> None:
    line = f"entity<|#|>Ada<|#|>{'T' * 500}<|#|>{'d ' * 5000}<|#|>1-999999\n"
    (entity,) = parse_reply(line).extraction.entities
    assert len(entity.type) == LONGEST_TYPE
    assert len(entity.description) == LONGEST_DESCRIPTION - 1
    assert entity.sentences == tuple(range(1, MOST_NUMBERS + 1))


ADA = {"name": "Ada", "type": "Person", "description": "A woman.", "sentences": [1, 3]}
LIVES = {
    "source": "Ada", "target": "London", "keywords": ["lives in", "home"],
    "description": "Ada lives there.", "sentences": "2-3", "weight": 0.5,
}  # fmt: skip


def items(value: Any) -> list[ExtractedEntity | ExtractedRelation]:
    return read_json(json.dumps(value)).items


@pytest.mark.parametrize(
    "renamed",
    [{"name": "entity_name", "type": "entity_type"}, {"name": "id", "type": "label"},
     {"sentences": "evidence", "description": "summary"}],
)  # fmt: skip
def test_other_names_of_members_are_understood(renamed: dict[str, str]) -> None:
    assert items([{renamed.get(key, key): value for key, value in ADA.items()}]) == items([ADA])


@pytest.mark.parametrize("ends", [("from", "to"), ("head", "tail"), ("subject", "object")])
def test_other_names_of_ends_are_understood(ends: tuple[str, str]) -> None:
    other = {ends[0]: "Ada", ends[1]: "London", **LIVES}
    del other["source"], other["target"]
    assert items([other]) == items([LIVES])


WRAPS = [
    lambda one: one,
    lambda one: [one],
    lambda one: {"a": [one]},
    lambda one: {"a": [{"b": [one]}]},
    lambda one: [[[one]]],
]


@pytest.mark.parametrize("wrap", WRAPS)
def test_records_are_found_wherever_they_are_listed(wrap: Any) -> None:
    assert items(wrap(ADA)) == items([ADA])


@pytest.mark.parametrize("weight", [True, "heavy", None, float("inf"), float("nan"), -3, 0])
def test_a_weight_that_cannot_be_used_is_1_and_others_are_bounded(weight: object) -> None:
    found = items([LIVES | {"weight": weight}, LIVES | {"weight": 10**9}])
    assert [one.weight for one in found if isinstance(one, ExtractedRelation)] == [1.0, 1e6]


def test_objects_that_are_no_records_are_counted() -> None:
    records = read_json(json.dumps([ADA, {"name": "it"}, {"source": "Ada", "target": "ada"}]))
    assert (len(records.items), records.dropped, records.complete) == (1, 2, True)


@given(st.integers(0, 400))
def test_any_cut_keeps_whole_objects_in_their_order(place: int) -> None:
    whole = json.dumps([{**ADA, "name": f"Ada {n}"} for n in range(5)])
    records = read_json(whole[:place])
    assert records.items == read_json(whole).items[: len(records.items)]
    assert len(records.items) == whole[:place].count("}")
    assert records.complete is (place >= len(whole))


@pytest.mark.parametrize(
    "member", ['"weight": 1e999', f'"weight": {"9" * 5000}', '"x": "' + "\\" * 1001]
)
def test_values_that_no_number_holds_raise_no_error(member: str) -> None:
    assert len(read_json('[{"source": "Ada", "target": "Bob", ' + member + "}]").items) <= 1


VALUE = st.sampled_from([None, True, 2.5, float("nan"), "x", [], [[1, "2"]], {}, {"name": "A"}])


@given(st.dictionaries(st.sampled_from(["name", "source", "target", "weight", "sentences"]), VALUE))
def test_members_of_any_kind_are_read_without_an_error(value: dict[str, Any]) -> None:
    for item in items([value, LIVES | value]):
        assert not isinstance(item, ExtractedRelation) or 0 < item.weight <= 1e6
        assert list(item.sentences) == sorted(set(item.sentences))
