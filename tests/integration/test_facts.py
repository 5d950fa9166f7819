"""Facts that relationships state are text: shown once, counted, indexed, looked up, and cited."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from pgs_neo4j.database.connection import Database
from pgs_neo4j.errors import NoTextError
from pgs_neo4j.llm.scripted import contract_reply
from pgs_neo4j.model import AbsenceStatus, GraphMapping, Prompt, Relationship
from pgs_neo4j.pgs.sweeping.material import read_relationships
from pgs_neo4j.search.indexes import drop_indexes, make_indexes, want_text
from tests.conftest import Endpoint
from tests.database import alter, fetch
from tests.engines import KNOBS, answering, asked, engine_on
from tests.graphs import count

VIEW = GraphMapping(
    labels=("Ent",),
    title="name",
    text=("name",),
    relationship_name="name",
    relationship_text="fact",
)
CONTRADICTED, CONFIRMED = AbsenceStatus.CONTRADICTED, AbsenceStatus.CONFIRMED
TOKEN = re.compile(r"FACT-\w+")
# Two rings of forty, whose partitions 12 facts connect.
BETWEEN = """
UNWIND range(0, 79) AS i CREATE (:Ent {name: 'Person ' + i, place: i});
MATCH (a:Ent), (b:Ent)
WHERE a.place / 40 = b.place / 40 AND b.place - a.place IN [1, 2, 3, 5]
CREATE (a)-[:RELATES_TO {name: 'KNOWS',
  fact: 'FACT-i' + a.place + 'x' + b.place + ' they know each other'}]->(b);
MATCH (a:Ent), (b:Ent) WHERE a.place % 3 = 0 AND a.place < 36 AND b.place = 40 + a.place
CREATE (a)-[:RELATES_TO {name: 'BETRAYED',
  fact: 'FACT-c' + a.place + ' the betrayal over the amber mine'}]->(b)
"""
# A chain with two facts for each pair, a loop on each node, and a list.
CHAIN = """
UNWIND range(0, 39) AS i CREATE (:Ent {name: 'Entity ' + i, place: i});
MATCH (a:Ent), (b:Ent) WHERE b.place = a.place + 1
CREATE (a)-[:RELATES_TO {name: 'TRADES', fact: 'FACT-p' + a.place + ' they trade wool'}]->(b)
CREATE (a)-[:RELATES_TO {name: 'OWES', fact: 'FACT-r' + a.place + ' one owes silver'}]->(b)
CREATE (a)-[:RELATES_TO {name: 'SELF', fact: 'FACT-w' + a.place + ' it doubts itself'}]->(a);
MATCH (a:Ent {place: 0}), (b:Ent {place: 5})
CREATE (a)-[:RELATES_TO {name: 'L', fact: ['FACT-x1 first', 'FACT-x2 second']}]->(b)
"""
PAIR = "CREATE (a:Ent {name: 'A'}), (b:Ent {name: 'B'}), (:Ent {name: 'C'})"


@dataclass(frozen=True)
class Case:
    """A graph, how many facts it states, its view, and what of a fact is in no prompt."""

    cypher: str
    facts: int
    view: GraphMapping = VIEW
    hidden: str = "SECRET"
    knobs: dict[str, Any] = field(default_factory=dict)


CASES = {
    "between partitions": Case(BETWEEN, 310),
    "loops and lists": Case(CHAIN, 3 * 39 + 2),
    "both directions, two types, parallel": Case(
        PAIR
        + """ CREATE (a)-[:R {fact: 'FACT-1'}]->(b), (a)-[:R {fact: 'FACT-2'}]->(b),
        (b)-[:S {fact: 'FACT-3'}]->(a), (a)-[:S {fact: 'FACT-4'}]->(b), (b)-[:S]->(a)""",
        4,
    ),
    "equal ones count once": Case(
        PAIR + " WITH a, b UNWIND range(1, 9) AS i CREATE (a)-[:R {fact: 'FACT-1'}]->(b)", 1
    ),
    "beyond the view": Case(
        PAIR
        + """ CREATE (a)-[:R {fact: 'FACT-1'}]->(b), (a)-[:Q {fact: 'SECRET type'}]->(b),
        (a)-[:R {fact: 'SECRET target'}]->(x:Other {name: 'SECRET name'}),
        (x)-[:R {fact: 'SECRET source'}]->(b), (a)-[:PGS_X {fact: 'SECRET here'}]->(:PgsX)""",
        1,
        replace(VIEW, relationship_types=("R",)),
    ),
    "the whole database": Case(
        PAIR
        + """ CREATE (a)-[:R {fact: 'FACT-1'}]->(:Other {name: 'D'})-[:Q {fact: 'FACT-2'}]->(b),
        (a)-[:PGS_X {fact: 'SECRET type'}]->(b), (a)-[:R {fact: 'SECRET end'}]->(:PgsX)""",
        2,
        replace(VIEW, labels=()),
    ),
    "empty ones, and what is not text": Case(
        PAIR
        + """ CREATE (a)-[:R {fact: ''}]->(b), (a)-[:R {fact: ' \n\t'}]->(b), (a)-[:R]->(b),
        (a)-[:R {fact: []}]->(b), (a)-[:R {fact: ['', ' ']}]->(b), (a)-[:R {fact: 7}]->(b),
        (a)-[:R {fact: ['', 'FACT-1', ' ', 'FACT-2']}]->(b), (a)-[:R {fact: 'FACT-3\nFACT-4'}]->(b),
        (b)-[:R {fact: [0.25, 0.5]}]->(a)""",
        4,
        hidden="0.25",
    ),
    "a node of facts alone, and a target without a name": Case(
        PAIR
        + """ CREATE (x:Ent {place: 1})-[:R {fact: 'FACT-1'}]->(x),
        (x)-[:R {fact: 'FACT-2'}]->(:Ent:Nameless)""",
        2,
    ),
    "no text but facts": Case(
        PAIR + " CREATE (a)-[:R {fact: 'FACT-1'}]->(b), (b)-[:R {fact: 'FACT-2'}]->(b)",
        2,
        replace(VIEW, title=None, text=()),
    ),
    "more than a prompt holds": Case(
        PAIR
        + """ WITH a, b UNWIND range(1, 900) AS i
        CREATE (a)-[:R {fact: 'FACT-' + i + ' ' + reduce(s = '', j IN range(1, 30) | s + ' word')}]
        ->(b)""",
        900,
        knobs={"max_pass_characters": 20_000},
    ),
}


async def load(db: Database, cypher: str) -> None:
    """Run statements that a semicolon separates."""
    for statement in cypher.split(";"):
        await alter(db, statement)


def sweeps(prompts: Iterable[Prompt]) -> list[str]:
    """Return the texts of the prompts that asked for a report."""
    return [prompt.user for prompt in prompts if prompt.task == "sweep"]


def nodes_of(text: str) -> str:
    """Return the nodes of a prompt."""
    return text.partition("<nodes>\n")[2].partition("\n</nodes>")[0]


def missing(*absences: str, finding: str = "None.") -> Callable[[Prompt], str]:
    """Return a reader that finds one thing, and misses some, in each partition."""
    listed = "\n".join(f"- {absence}" for absence in absences)
    report = f"## Domain State\nRead.\n## Findings\n- {finding}\n## Absences\n{listed}\n"
    return lambda prompt: report if prompt.task == "sweep" else contract_reply(prompt)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
async def test_each_fact_stands_in_one_prompt_and_nothing_beyond_the_view_does(
    endpoint: Endpoint, db: Database, case: Case
) -> None:
    await load(db, case.cypher)
    async with engine_on(endpoint, **KNOBS | case.knobs) as pgs:
        await pgs.graphs.add("facts", case.view)
        answer = await pgs.execute("Why?", graph="facts", full_sweep=True)
        prompts = sweeps(asked(pgs))
    shown = Counter(token for text in prompts for token in TOKEN.findall(nodes_of(text)))
    assert len(shown) == case.facts
    assert set(shown.values()) == {1}
    assert not any(case.hidden in text for text in prompts)
    assert answer.coverage is not None
    assert answer.coverage.exhausted
    assert answer.coverage.fraction == 1.0


async def test_a_fact_names_its_relationship_and_its_target(
    endpoint: Endpoint, db: Database
) -> None:
    await load(db, BETWEEN)
    async with engine_on(endpoint, **KNOBS) as pgs:
        await pgs.graphs.add("facts", VIEW)
        await pgs.execute("Why?", graph="facts", full_sweep=True)
        prompts = sweeps(asked(pgs))
        part, *others = await pgs.partitions("facts")
    assert others
    line = "| RELATES_TO (BETRAYED) -> Person 40: FACT-c0 the betrayal over the amber mine\n"
    (block,) = (one for prompt in prompts for one in prompt.split("\n[n") if line in one)
    assert re.match(r"\d+\] Person 0 \(Ent\)\n\| Person 0\n\| \n", block)
    for prompt in prompts:
        links = prompt.partition("<relationships>\n")[2].partition("\n</relationships>")[0]
        assert links
        assert not TOKEN.search(links)
    named = await read_relationships(db, part, VIEW)
    assert {link.name for link in named} == {"KNOWS"}
    assert await read_relationships(db, part, replace(VIEW, relationship_name=None)) == [
        Relationship(link.source, link.target, link.type) for link in named
    ]


SALT = PAIR + " CREATE (a)-[:R {fact: 'It sold salt.'}]->(:Ent {name: 'Ravenna'})"
LOOKUPS = [
    (BETWEEN, "no betrayal over the amber mine", CONTRADICTED, 12),
    (BETWEEN, "no betrayal over the silver mine of Potosi", CONFIRMED, 0),
    (SALT, "no salt in Ravenna", CONTRADICTED, 1),
    (SALT, "no salt in Padua", CONFIRMED, 0),
    (CHAIN, "no trade in wool", CONTRADICTED, 39),
    (CHAIN, "nobody owes silver", CONTRADICTED, 39),
    (CHAIN, "no entity doubts itself", CONTRADICTED, 39),
    (CHAIN, "nothing second", CONTRADICTED, 1),
    (CHAIN, "no trade in silk", CONFIRMED, 0),
    (CHAIN, "nothing relates to another", CONTRADICTED, 40),  # the name of a type is a word
    (CASES["beyond the view"].cypher, "no secret of a zeppelin", CONFIRMED, 0),
]


@pytest.mark.parametrize("way", ["index", "scan"])
@pytest.mark.parametrize("cypher", dict.fromkeys(row[0] for row in LOOKUPS))
async def test_absences_are_looked_up_in_facts(
    endpoint: Endpoint, db: Database, cypher: str, way: str
) -> None:
    expected = {text: (status, n) for source, text, status, n in LOOKUPS if source == cypher}
    await load(db, cypher)
    async with engine_on(endpoint, missing(*expected), **KNOBS) as pgs:
        await pgs.graphs.add("facts", VIEW)
        await pgs.partitions.build("facts")
        if way == "scan":
            await alter(db, "MATCH (s:PgsSegment) DETACH DELETE s")
        answer = await pgs.execute("Why?", graph="facts", full_sweep=True)
    checked = {absence.text: absence for absence in answer.crosscheck.absences}
    assert {text: (one.status, one.count) for text, one in checked.items()} == expected
    assert all(way in one.method for one in checked.values())


@pytest.mark.schema
@pytest.mark.parametrize(
    ("cypher", "words", "holders"),
    [
        (CHAIN, "owes silver", 39),
        (CHAIN, "doubts itself", 39),
        (CHAIN, "second", 1),
        (BETWEEN, "betrayal amber mine", 12),
    ],
)
async def test_questions_lead_to_the_nodes_whose_facts_match(
    endpoint: Endpoint, db: Database, cypher: str, words: str, holders: int
) -> None:
    await load(db, cypher)
    async with engine_on(endpoint, **KNOBS) as pgs:
        await pgs.graphs.add("facts", VIEW)
        before = await pgs.search(words, graph="facts", mode="naive", top_k=50)
        await pgs.partitions.build("facts")
        routing = await pgs.route(f"Is there any {words}?", graph="facts")
        assert not routing.unmatched
        assert "no text holds" not in routing.note
        after = await pgs.search(words, graph="facts", mode="naive", top_k=50)
        try:
            await make_indexes(db, want_text(VIEW))
            indexed = await pgs.search(words, graph="facts", mode="naive", top_k=50)
        finally:
            await drop_indexes(db)
        for found in (before, after, indexed):
            (text,) = (path for path in found.paths if path.name == "text")
            assert text.count == holders, text
            assert all(word in found.items[0].text for word in words.split())
        await pgs.partitions.build("facts")  # sees that the indexes changed no text
        unmatched = await pgs.route("Is there any zeppelin?", graph="facts")
        assert unmatched.unmatched
        assert "no text holds “zeppelin”" in unmatched.note


async def test_quotations_of_facts_are_found_on_both_ends_and_nowhere_else(
    endpoint: Endpoint, db: Database
) -> None:
    await load(db, PAIR + " CREATE (a)-[:R {fact: 'A sold the amber mine to B in 1371'}]->(b)")
    async with engine_on(endpoint, **KNOBS) as pgs:
        await pgs.graphs.add("facts", VIEW)
        await pgs.execute("Why?", graph="facts", full_sweep=True)
        (prompt,) = (one for one in asked(pgs) if one.task == "sweep")
        aliases = {node.title: node.alias for node in prompt.nodes}
        for title, found in (("A", True), ("B", True), ("C", False)):
            finding = f'It "sold the amber mine to B" [{aliases[title]}]'
            answering(pgs, missing("nothing", finding=finding))
            answer = await pgs.execute(f"Is it {title}?", graph="facts", full_sweep=True)
            assert answer.sweeps[0].report is not None
            (quote,) = answer.sweeps[0].report.findings[0].quotes
            assert quote.found is found, title
        document = await pgs.runs.document(answer.run)
        (cited,) = document.sources
        node = await pgs.browse.node("facts", await element_id(db, "A"))
    assert cited.title == "C"
    assert node.text == "A\n\nR -> B: A sold the amber mine to B in 1371"


async def test_lists_are_shown_where_relationships_are_listed(
    endpoint: Endpoint, db: Database
) -> None:
    await load(db, CHAIN)
    async with engine_on(endpoint, **KNOBS) as pgs:
        await pgs.graphs.add("facts", VIEW)
        page = await pgs.browse.neighbors("facts", await element_id(db, "Entity 5"))
        found = await pgs.search("first second", graph="facts", mode="hybrid")
    stated = "FACT-x1 first; FACT-x2 second"
    assert stated in [neighbor.fact for neighbor in page.neighbors]
    assert stated in [fact.text for fact in found.facts]


async def element_id(db: Database, name: str) -> str:
    """Return the element id of a node."""
    rows = await fetch(db, "MATCH (e:Ent {name: $name}) RETURN elementId(e) AS id", name=name)
    return str(rows[0]["id"])


OWES = "MATCH (a:Ent {place: 7})-[r {name: 'OWES'}]->(b)"
CHANGES = {
    "changed": OWES + " SET r.fact = 'FACT-new they are even'",
    "a list": OWES + " SET r.fact = ['FACT-new', 'they are even']",
    "removed": OWES + " REMOVE r.fact",
    "renamed": OWES + " SET r.name = 'FACT-new'",
    "on a loop": "MATCH (a:Ent {place: 7})-[r]->(a) SET r.fact = 'FACT-new'",
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
async def test_a_changed_fact_makes_its_source_unread_again(
    endpoint: Endpoint, db: Database, change: str
) -> None:
    await load(db, CHAIN)
    async with engine_on(endpoint, **KNOBS) as pgs:
        await pgs.graphs.add("facts", VIEW)
        await pgs.execute("Why?", graph="facts", full_sweep=True)
        await alter(db, change)
        drift = await pgs.partitions.check("facts")
        assert (drift.texts_changed, drift.structure_changed) == (1, False)
        assert (await pgs.partitions.build("facts")).generation.origin == "refreshed"
        coverage = await pgs.sessions.coverage("default", "facts")
        assert coverage is not None
        assert (coverage.texts_read, coverage.texts_total) == (39, 40)
        asked(pgs)
        answer = await pgs.execute("Why?", graph="facts", mode="continue")
        (prompt,) = (one for one in asked(pgs) if one.task == "sweep")
        assert [node.title for node in prompt.nodes] == ["Entity 7"]
        assert ("FACT-new" in prompt.user) is ("FACT-new" in change)
        assert answer.coverage is not None
        assert answer.coverage.exhausted


@pytest.mark.parametrize(
    "change",
    [
        OWES + ", (c:Ent {place: 30}) CREATE (a)-[:RELATES_TO {fact: 'FACT-new'}]->(c)",
        "MATCH (a:Ent {place: 7})-[r {name: 'TRADES'}]->() DELETE r",
        OWES + ", (c:Ent {place: 9}) CREATE (a)-[s:RELATES_TO]->(c) SET s = properties(r) DELETE r",
    ],
    ids=["added", "deleted", "led elsewhere"],
)
async def test_a_fact_that_comes_or_goes_makes_its_source_unread_again(
    endpoint: Endpoint, db: Database, change: str
) -> None:
    await load(db, CHAIN)
    async with engine_on(endpoint, **KNOBS) as pgs:
        await pgs.graphs.add("facts", VIEW)
        await pgs.execute("Why?", graph="facts", full_sweep=True)
        await alter(db, change)
        asked(pgs)
        await pgs.execute("Why?", graph="facts", mode="continue")
        prompts = [one for one in asked(pgs) if one.task == "sweep"]
        assert [node.title for one in prompts for node in one.nodes] == ["Entity 7"]


async def test_without_facts_no_relationship_is_read_as_text(
    endpoint: Endpoint, db: Database
) -> None:
    await load(db, CHAIN)
    plain = replace(VIEW, relationship_text=None)
    assert (plain.facts, plain.has_text) == ([], True)
    async with engine_on(endpoint, missing("no trade in wool"), **KNOBS) as pgs:
        await pgs.graphs.add("plain", plain)
        answer = await pgs.execute("Why?", graph="plain", full_sweep=True)
        assert not any(map(TOKEN.search, sweeps(asked(pgs))))
        assert answer.crosscheck.absences[0].status is CONFIRMED
        await pgs.graphs.add(
            "plain", replace(plain, text=(), relationship_text="nothing"), replace=True
        )
        with pytest.raises(NoTextError, match="none of its 40 nodes has text in nothing"):
            await pgs.execute("Why?", graph="plain")
    assert await count(db, "(x:Ent)") == 40
