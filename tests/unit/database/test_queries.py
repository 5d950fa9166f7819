"""Cypher files: headers are read, lies in them are refused, and names in them are quoted."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgs_neo4j.database import queries
from pgs_neo4j.database.queries import fill_names, quote

GOOD = """// Count nodes of a label.
// params: label: str
// returns: count: int
// mode: read
MATCH (n:$($label)) WHERE n.note <> '$notThis; nor // this' RETURN count(n) AS count
"""


def test_a_long_header_line_continues():
    text = GOOD.replace("// returns: count: int", "// returns: count: int,\n//   more: list[str?]")
    query = queries.parse("test/count", text)
    assert query.columns == {"count": "int", "more": "list[str?]"}
    assert query.params == {"label": "str"}
    assert (query.name, query.mode) == ("test/count", "read")
    assert query.purpose == "Count nodes of a label."
    dynamic = queries.parse("test/count", GOOD.replace("$($label)", "$any($label)"))
    assert dynamic.params == {"label": "str"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("// params: label: str\n", ""), "disagree on the parameters label"),
        (("mode: read", "mode: maybe"), "mode is 'maybe'"),
        (("// mode: read\n", ""), "the header has no mode"),
        (("mode: read", "mode: read\n// language: 25"), "language is '25', not one of '5', 'any'"),
        (("label: str", "label: str, more: int"), "disagree on the parameters more"),
        ((" label: str", ""), "disagree on the parameters label"),
        (("label: str", "label"), "label has the type '', which is unknown"),
        (("label: str", "label: string"), "label has the type 'string', which is unknown"),
        (("count: int", "count: list[int"), r"count has the type 'list\[int', which is unknown"),
        (("count: int", "count: list"), "count has the type 'list', which is unknown"),
        (("count: int", "count: list[]"), r"count has the type 'list\[\]', which is unknown"),
        (("count: int", "count: list[string]"), r"count has the type 'list\[string\]', which"),
        (("count: int", "count: int??"), r"count has the type 'int\?\?', which is unknown"),
        ((GOOD.splitlines()[-1], ""), "no statement"),
        (("// Count nodes of a label.\n", ""), "does not say what"),
        (("// mode: read", "// mode: read\n// mode: write"), "two lines 'mode:'"),
        (("RETURN", "; RETURN"), "more than one statement"),
        (("// mode: read", "// mode: read\n// plan: twice"), "plan is 'twice'"),
        (
            ("read\n", "read\n// language: any\n// plan: once\n"),
            "without a prefix cannot be planned once",
        ),
        (("read\n", "read\n// locks: run\n"), "locks is 'run'; it can only be 'graph'"),
        (("read\n", "read\n// locks: graph\n"), "only a statement of mode write says"),
    ],
)
def test_a_header_that_does_not_fit_is_refused(change, message):
    with pytest.raises(ValueError, match=message):
        queries.parse("test/count", GOOD.replace(*change))


@pytest.mark.parametrize(
    ("stated", "languages", "first_line"),
    [
        ("", ("5", "25"), "CYPHER 5"),
        ("// language: 5\n", ("5",), "CYPHER 5"),
        ("// language: any\n", (), "// Count nodes of a label."),
        ("// plan: once\n", ("5", "25"), "CYPHER 5 replan=skip"),
    ],
)
def test_the_text_that_is_sent_names_its_language(stated, languages, first_line):
    query = queries.parse("test/count", GOOD.replace("MATCH", f"{stated}MATCH"))
    assert query.languages == languages
    assert query.text.splitlines()[0] == first_line
    assert query.text.endswith(GOOD.splitlines()[-1] + "\n")
    assert query.statement == GOOD.splitlines()[-1]


def test_another_language_is_asked_for_where_a_statement_has_it(monkeypatch):
    monkeypatch.setattr(queries, "PREFERRED", "25")
    assert queries.prefix("RETURN 1", ("5", "25")) == "CYPHER 25\nRETURN 1"
    assert queries.prefix("RETURN 1", ("5",)) == "CYPHER 5\nRETURN 1"


def test_only_the_first_question_to_a_server_names_no_language():
    """A server before 5.26 is to be told its version, not that it knows no such prefix."""
    bare = {name for name in queries.names() if not queries.get(name).languages}
    assert bare == {"database/read_components"}


def test_no_name_is_a_word_that_changes_its_meaning():
    """In Cypher 25 ``all[0]`` is ``ALL [0]``: it returns a list, without an error.

    The other quantifiers may follow. Name the variable for its content. Keywords are in capitals.
    """
    quantifier = re.compile(r"\b(?:[Aa]ll|[Aa]ny|[Nn]one|[Ss]ingle)\b(?!\s*\()")
    strings = re.compile(r"'[^']*'|//.*")
    offenders = {
        name: found
        for name in queries.names()
        if (found := quantifier.findall(strings.sub("", queries.get(name).text)))
    }
    assert offenders == {}


def test_a_read_finds_a_current_generation_while_another_becomes_current():
    """A read that follows PGS_CURRENT while it is replaced can find neither the old nor the new.

    Generations stay linked by PGS_OF, so one of them is found in any case.
    """
    chosen = (
        "MATCH (g)<-[:PGS_OF]-(c:PgsGeneration {status: 'complete'})\n"
        "  RETURN c ORDER BY EXISTS { (g)-[:PGS_CURRENT]->(c) } DESC, c.created_at DESC LIMIT 1\n"
    )
    read = {
        name: text
        for name in queries.names()
        if queries.get(name).mode == "read" and ":PGS_CURRENT" in (text := queries.get(name).text)
    }
    assert {name for name, text in read.items() if chosen in text} >= {
        "pgs/partitioning/read_current",
        "engine/browse/read_members",
    }
    others = [name for name, text in read.items() if ":PGS_CURRENT" in text.replace(chosen, "")]
    assert others == ["pgs/runs/run_by_id"]  # tells whether a generation is current, and finds none


# Relationships of the package to nodes of the user.
LINKS = ("IN", "CITES", "SEEN_IN", "SHOWED", "ABOUT", "SOURCE", "TARGET", "ISOMORPHIC")
LINKING = re.compile(rf"PGS_({'|'.join(LINKS)})\b|DETACH DELETE")
# These read such links, or delete nodes that have none.
LOCKING = {
    "documents/publish/set_roots",  # sets a property of documents
    "engine/views/set_seen",  # connects nodes of the user by a type of its own
}
UNLINKED = {
    "engine/catalog/delete_graphs",
    "database/delete_ended",
    "documents/deletion/delete_remade",
    "pgs/partitioning/delete_segments",
    "pgs/runs/delete_jobs",
}


def test_statements_that_lock_nodes_of_the_user_are_counted_apart():
    written = [query for query in map(queries.get, queries.names()) if query.mode == "write"]
    linking = {query.name for query in written if LINKING.search(query.statement)}
    apart = {query.name for query in written if query.counter == queries.GRAPH}
    assert apart - linking == LOCKING
    assert linking - apart == UNLINKED


CODE = re.compile(r"\\u([0-9a-fA-F]{4})")


@given(st.text(st.sampled_from("`\\u0060C5xa{}"), max_size=40))
def test_the_server_reads_one_name_back(name: str) -> None:
    decoded = CODE.sub(lambda match: chr(int(match[1], 16)), quote(name))
    body = decoded[1:-1]
    assert not re.search("(?<!`)(?:``)*`(?!`)", body)  # no single back-tick ends the name
    assert body.replace("``", "`") == name


def test_each_place_needs_a_name_and_each_name_a_place() -> None:
    query = queries.get("search/create_text_indexes")
    for names in ({"labels": ["A"]}, {"labels": ["A"], "properties": []}):
        with pytest.raises(ValueError, match="has places for labels, properties"):
            fill_names(query, **names)
