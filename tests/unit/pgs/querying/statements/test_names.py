"""What a statement names: labels, types, properties, patterns, and strings with their places."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgs_neo4j.database.gate.tokens import read_tokens, write_tokens
from pgs_neo4j.errors import GateError
from pgs_neo4j.pgs.querying.statements.names import (
    StatementNames,
    find_names,
    read_string,
    replace_strings,
    write_string,
)

WORDS = """
MATCH WITH WHERE RETURN UNWIND CALL EXISTS COUNT AS IN IS n m :A :T 'x' ( ) [ ] { } - -> <- , . = |
& ! * + $p 1 toLower UNION ORDER BY NOT OR AND
"""


def names_of(statement: str) -> StatementNames:
    """What a statement names."""
    return find_names(read_tokens(statement))


def properties(statement: str) -> list[str]:
    """The properties of a statement, each behind the labels or types of its owner."""
    names = names_of(statement)
    return [f"{'|'.join(names.names_of(one.entity))}.{one.name}" for one in names.properties]


def literals(statement: str) -> list[tuple[str, str, str, str | None]]:
    """The strings of a statement: property, value, comparison, and folding."""
    return [
        (one.property.name, one.value, one.comparison, one.folding)
        for one in names_of(statement).literals
    ]


def steps(statement: str) -> list[str]:
    """The steps of a statement, each as an arrow."""
    names = names_of(statement)
    return [
        f"{'|'.join(names.names_of(one.source))} {'|'.join(names.names_of(one.relationship))}"
        f"{'*' * (not one.single)} {'>' if one.directed else '-'}"
        f" {'|'.join(names.names_of(one.target))}"
        for one in names.steps
    ]


@pytest.mark.parametrize(
    ("statement", "labels", "types"),
    [
        ("MATCH (p:Person:Actor)-[:ACTED_IN|:DIRECTED]->() RETURN p", "Person Actor",
         "ACTED_IN DIRECTED"),
        ("MATCH (n:(A|B)&!C)-[r:!T]->(:%) RETURN n", "A B C", "T"),
        ("MATCH (n IS A)-[IS T]->(m) WHERE m:B OR m:C RETURN n", "A B C", "T"),
        ("MATCH (n:`Big Label` {x: 1}) RETURN n", "Big Label", ""),
        ("MATCH (n:A)-[r]->(m) WHERE r:T RETURN CASE WHEN n:B THEN {a: n} END", "A B", "T"),
        ("RETURN [x IN [1] WHERE x = 2 | {y: x}] AS z, $param AS q", "", ""),
        ("MATCH (n:A) WHERE (n)-[:T]->(:B) AND NOT EXISTS { (n)<-[:U]-(:C) } RETURN n", "A B C",
         "T U"),
        ("MATCH (n:A) RETURN [(n)-[:T]->(m:B) WHERE m:C | m.x] AS l", "A B C", "T"),
        ("MATCH p = shortestPath((a:A)-[:T*..5]-(b:B)) RETURN p", "A B", "T"),
        ("MATCH (a:A) ((x:B)-[:T]->(y)){1,3} (c:C) RETURN c", "A B C", "T"),
        ("MATCH (order:Order), (call:Call) WHERE order.x = call.y RETURN order", "Order Call", ""),
    ],
)  # fmt: skip
def test_labels_and_types_are_found(statement: str, labels: str, types: str) -> None:
    names = names_of(statement)
    assert " ".join(one.name for one in names.labels) == labels
    assert " ".join(one.name for one in names.types) == types
    tokens = read_tokens(statement)
    assert all(tokens[one.at].text == one.name for one in names.labels + names.types)


@pytest.mark.parametrize(
    ("statement", "found"),
    [
        ("MATCH (p:Person {name: 'x'}) RETURN p.born", ["Person.name", "Person.born"]),
        ("MATCH (p:Person) WITH p AS q RETURN q.born", ["Person.born"]),
        ("MATCH (p) WHERE p:Person AND p.born > 1 RETURN p", ["Person.born"]),
        ("MATCH (p) WHERE NOT p:Person AND p.born > 1 RETURN p", [".born"]),
        ("MATCH (p) WHERE p:Person OR p.born > 1 RETURN p", [".born"]),
        ("MATCH (p:Person) WITH collect(DISTINCT p) AS ps UNWIND ps AS q RETURN q.born",
         ["Person.born"]),
        ("MATCH (p:Person) WITH collect(p) AS ps RETURN [q IN ps | q.born]", ["Person.born"]),
        ("MATCH (p:Person) RETURN any(p IN [{x: 1}] WHERE p.x = 1), p.born", ["Person.born"]),
        ("MATCH (p:Person) RETURN p {.name, .born, age: p.age}",
         ["Person.name", "Person.born", "Person.age"]),
        ("MATCH ()-[r:T {since: 1}]->() WHERE r.until > 2 RETURN r", ["T.since", "T.until"]),
        ("MATCH (a:A) CALL (a) { MATCH (a)-[:T]->(b:B) RETURN b } RETURN b.x", ["B.x"]),
        ("MATCH (a:A) WHERE COUNT { (a)-[:T]->(b:B WHERE b.y = 1) } > 2 RETURN a.z",
         ["B.y", "A.z"]),
        ("MATCH (a:A) RETURN a.x UNION MATCH (a:B) RETURN a.y", ["A.x", "B.y"]),
        ("MATCH (a:A) WITH count(a) AS n MATCH (a:B) RETURN a.x", ["B.x"]),
        ("MATCH (a:A) WITH a.x AS x ORDER BY a.y RETURN x", ["A.x", "A.y"]),
        ("MATCH (a:A) RETURN a.born.year, date().year, duration.between(a.x, a.y).days",
         ["A.born", "A.x", "A.y"]),
        ("WITH {x: 1} AS m RETURN m.x, apoc.text.join([], '')", []),
    ],
)  # fmt: skip
def test_properties_are_found_with_the_names_of_their_owners(
    statement: str, found: list[str]
) -> None:
    assert properties(statement) == found
    tokens, names = read_tokens(statement), names_of(statement)
    assert all(tokens[one.at].text == one.name for one in names.properties)


@pytest.mark.parametrize(
    ("statement", "found"),
    [
        ("MATCH (a:A)-[:T]->(b:B)<-[:U]-(c:C) RETURN a", ["A T > B", "C U > B"]),
        ("MATCH (a:A)-[:T]-(b:B)--(:C)<-->(:D) RETURN a", ["A T - B", "B  - C", "C  - D"]),
        ("MATCH (a)-[:T*1..3 {x: 1}]->(b:B) WHERE a:A RETURN a", ["A T* > B"]),
        ("MATCH (a:A)-[:T|U]->{1,2}(b)-[:V]->+(c:C) RETURN a", ["A T|U* > ", " V* > C"]),
        ("MATCH (a:A), (b:B) WHERE (a)-[:T]->(b) RETURN a", ["A T > B"]),
        ("MATCH (a:A), (b:B) RETURN (a.x)-(b.y)", []),
    ],
)
def test_steps_follow_their_arrows(statement: str, found: list[str]) -> None:
    assert steps(statement) == found


@pytest.mark.parametrize(
    ("statement", "found"),
    [
        ("MATCH (p:P {name: 'x', age: 1}) RETURN p", [("name", "x", "equals", None)]),
        ("MATCH (p:P) WHERE p.a = 'x' OR 'y' = p.b OR p.c <> \"z\" RETURN p",
         [("a", "x", "equals", None), ("b", "y", "equals", None), ("c", "z", "equals", None)]),
        ("MATCH (p:P) WHERE p.a IN ['x', 1, 'y'] OR 'z' IN p.b RETURN p",
         [("a", "x", "equals", None), ("a", "y", "equals", None), ("b", "z", "equals", None)]),
        ("MATCH (p:P) WHERE toLower(trim(p.a)) = 'x' OR p.b = toUpper('y') RETURN p",
         [("a", "x", "equals", "lower"), ("b", "y", "equals", None)]),
        ("MATCH (p:P) WHERE p.a CONTAINS 'x' OR p.b STARTS WITH 'y' OR p.c ENDS WITH 'z' RETURN p",
         [("a", "x", "contains", None), ("b", "y", "starts with", None),
          ("c", "z", "ends with", None)]),
        ("MATCH (p:P) WITH p.a AS name, p WHERE name = 'x' AND toLower(name) = 'y' RETURN p",
         [("a", "x", "equals", None), ("a", "y", "equals", "lower")]),
        ("MATCH (p:P) UNWIND p.roles AS role WITH role WHERE role = 'x' RETURN role",
         [("roles", "x", "equals", None)]),
        ("MATCH (p:P) WHERE p.a = 'x' + p.b OR p.a =~ 'y' OR p.a + 'z' = p.b RETURN 'w'", []),
        ("MATCH (p:P) WHERE p.a = $x AND p.b = ['x'] RETURN p", []),
        ("MATCH ()-[r:T {role: 'it\\'s \\\\ \\n'}]->() RETURN r",
         [("role", "it's \\ \n", "equals", None)]),
    ],
)  # fmt: skip
def test_strings_are_found_beside_their_properties(
    statement: str, found: list[tuple[str, str, str, str | None]]
) -> None:
    assert literals(statement) == found
    tokens = read_tokens(statement)
    assert all(tokens[one.at].kind == "string" for one in names_of(statement).literals)


def test_a_string_is_replaced_in_its_place() -> None:
    tokens = read_tokens("MATCH (p:P) WHERE p.a = 'x' AND p.b = 'y' RETURN p")
    places = [one.at for one in find_names(tokens).literals]
    written = write_tokens(replace_strings(tokens, {places[1]: 'O\'Hara \\ "q"'}))
    assert written.startswith("MATCH (p:P) WHERE p.a = 'x' AND p.b = 'O\\u005C'Hara")
    again = find_names(read_tokens(written)).literals
    assert [one.value for one in again] == ["x", 'O\'Hara \\ "q"']


@given(st.text())
def test_what_is_written_as_a_string_is_read_again(text: str) -> None:
    try:
        (token,) = read_tokens(write_string(text))
    except GateError:  # half of a character, which no statement can hold
        assert any("\ud800" <= sign <= "\udfff" for sign in text)
        return
    assert read_string(token) == text


@given(
    st.lists(
        st.sampled_from(WORDS.split()),
        max_size=30,
    )
)
def test_no_row_of_tokens_fails(words: list[str]) -> None:
    tokens = read_tokens(" ".join(("MATCH", *words)))
    names = find_names(tokens)
    places = [one.at for one in names.labels + names.types]
    places += [one.at for one in names.properties]
    assert all(tokens[at].is_named for at in places)
    assert all(tokens[one.at].kind == "string" for one in names.literals)


@pytest.mark.parametrize("bracket", ["(", "[", "{", "(n:", "{x: ", "EXISTS {", "x IN [", "(:A)-["])
def test_brackets_may_be_very_deep(bracket: str) -> None:
    names = names_of("MATCH (n:A) WHERE " + bracket * (19_000 // len(bracket)))
    assert names.labels[0].name == "A"
