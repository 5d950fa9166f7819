"""What reports miss is looked for in the whole graph: by scan, by index, within bounds."""

from dataclasses import replace
from functools import partial
from random import Random

import numpy as np
import pytest

from pgs_neo4j.checking.absences import check_absences, group_absences
from pgs_neo4j.checking.links import read_links
from pgs_neo4j.checking.lookups import Lookups
from pgs_neo4j.errors import DatabaseError, ModelUnavailableError
from pgs_neo4j.model import (
    Absence,
    AbsenceStatus,
    GraphMapping,
    Partition,
    Report,
    Sweep,
    SweepStatus,
)
from pgs_neo4j.retrieval import lookup as lookup_module
from pgs_neo4j.retrieval import topk
from pgs_neo4j.retrieval.lookup import LookupOrder, LookupTools, look_up
from pgs_neo4j.text.gist import search_terms
from pgs_neo4j.text.matching import Page, SearchTerms
from tests import database
from tests.engines import engine_on_papers
from tests.graphs import MAPPING

NOTES = GraphMapping(labels=("Note",), text=("text", "more"), title="name", key="name")
CREATE_PARTITIONS = """
CREATE (g:PgsGeneration {id: 'g'}), (old:PgsGeneration {id: 'old'})
WITH g, old
UNWIND $partitions AS row
CREATE (g)<-[:PGS_PART_OF]-(p:PgsPartition {uid: 'g:' + row.id, id: row.id, level: 0})
CREATE (old)<-[:PGS_PART_OF]-(:PgsPartition {uid: 'old:' + row.id, id: row.id, level: 0})
WITH row, p
UNWIND range(0, size(row.notes) - 1) AS i
CREATE (n:Note)-[:PGS_IN {rank: i}]->(p)
SET n = row.notes[i]
"""


def note(name, text=None, **more):
    return {"name": name, "text": text, **more}


async def prepare(db, *partitions, mapping=NOTES, embedder=None, **more):
    """Order and tools for the notes given; one more note is in no partition."""
    rows = [{"id": i, "notes": notes} for i, notes in enumerate(partitions, 1)]
    await db.call(CREATE_PARTITIONS, {"partitions": rows}, "write")
    await db.call("CREATE (:Note {name: 'outside', text: 'ammonia outside'})", {}, "write")
    made = tuple(
        Partition(id=row["id"], uid=f"g:{row['id']}", size=len(row["notes"]), tokens=100)
        for row in rows
    )
    order = LookupOrder(mapping=mapping, generation="g", partitions=made, **more)
    return order, LookupTools(db=db, embedder=embedder)


async def index(db, text):
    await db.call(text, {}, "write")
    await db.call("CALL db.awaitIndexes()", {}, "read")


async def find(place, searches):
    order, tools = place
    return await look_up(order, tools, searches)


async def one(place, *terms, needed=None):
    asked = SearchTerms(terms, len(terms) if needed is None else needed)
    return (await find(place, [asked]))[asked]


def titles(found):
    return [hit.title for hit in found.hits]


CHEMISTRY = (
    note("Haber", "Ammonia from nitrogen at high pressure."),
    note("catalog", "The onion of the formation."),
)
SLEEP = (note("naps", "Cats sleep, and memories stay."), note("dreams", "Of ammonias and cats."))


async def test_a_scan_finds_every_node_that_holds_enough_of_the_terms(db):
    place = await prepare(db, CHEMISTRY, SLEEP)
    both = SearchTerms(("ammonia", "pressure"), 2)
    either = SearchTerms(("ammonia", "cat", "pressure"), 2)
    found = await find(place, [both, either])
    assert titles(found[both]) == ["Haber"]
    assert titles(found[either]) == ["Haber", "dreams"]
    [hit] = found[both].hits
    assert (hit.partition, hit.rank, hit.key) == (1, 0, "Haber")
    _, rows = await db.call(
        "MATCH (n) WHERE elementId(n) = $id RETURN n.name AS name", {"id": hit.element_id}, "read"
    )
    assert rows == [{"name": "Haber"}]
    assert (found[both].searched, found[both].method) == (4, "scan of every node")
    assert found[both].complete


async def test_whole_words_count_and_parts_do_not(db):
    place = await prepare(db, CHEMISTRY, SLEEP)
    assert titles(await one(place, "cat")) == ["naps", "dreams"]
    assert titles(await one(place, "ion")) == []
    assert (await one(place, "ion")).searched == 4
    assert titles(await one(place, "memory")) == ["naps"]


async def test_titles_are_looked_into_as_they_are_read(db):
    place = await prepare(db, [note("Photosynthesis", "How plants grow.")])
    assert titles(await one(place, "photosynthesis")) == ["Photosynthesis"]


async def test_properties_of_any_kind_are_looked_into(db):
    place = await prepare(
        db,
        [
            note("list", ["first", "the second line"]),
            note("number", 1998),
            note("later", None, more="nothing but zinc"),
            note("none"),
        ],
    )
    await db.call("MATCH (n:Note {name: 'none'}) SET n.more = date('2011-05-01')", {}, "write")
    assert titles(await one(place, "second")) == ["list"]
    assert titles(await one(place, "1998")) == ["number"]
    assert titles(await one(place, "zinc")) == ["later"]
    assert titles(await one(place, "2011")) == ["none"]


async def test_the_same_node_counts_once_and_only_in_this_generation(db):
    place = await prepare(db, CHEMISTRY)
    await db.call(
        "MATCH (n:Note {name: 'Haber'}), (p:PgsPartition {uid: 'old:1'}) "
        "CREATE (n)-[:PGS_IN {rank: 7}]->(p)",
        {},
        "write",
    )
    for text in (
        "RETURN 1",
        "CREATE FULLTEXT INDEX i FOR (n:Note) ON EACH [n.text, n.more, n.name]",
    ):
        await index(db, text)
        found = await one(place, "ammonia")
        assert [(hit.partition, hit.rank) for hit in found.hits] == [(1, 0)]
        assert found.searched == 2


async def test_partitions_to_be_read_first_come_first(db):
    notes = [[note(f"n{p}{i}", "ammonia") for i in range(2)] for p in range(3)]
    place = await prepare(db, *notes, first=frozenset({3}))
    found = await one(place, "ammonia")
    assert [(hit.partition, hit.rank) for hit in found.hits] == [
        (3, 0), (3, 1), (1, 0), (1, 1), (2, 0), (2, 1)
    ]  # fmt: skip


HOSTILE = (
    "", " ", "+", "*", "?*", "a AND b", "NOT", 'say "x', "\\", "foo:bar", "[a TO b]", "{x}", "~2",
    "/re/", "(", "^9", "\x00", "\n", "'; RETURN 1 //", "$text", ".*", "(?s).*", "[^\\W",
    "\ud800", "a\ud800b",
    "عدم وجود", "量子", "हिन्दी", "x" * 100_000, "and or not",
)  # fmt: skip


@pytest.mark.parametrize("indexed", [False, True])
async def test_hostile_terms_find_nothing_and_break_nothing(db, indexed):
    place = await prepare(db, CHEMISTRY)
    if indexed:
        await index(db, "CREATE FULLTEXT INDEX i FOR (n:Note) ON EACH [n.text, n.more, n.name]")
    asked = [SearchTerms((term,), 1) for term in HOSTILE] + [
        SearchTerms(HOSTILE, 3),
        SearchTerms(HOSTILE, 99),
        SearchTerms((), 0),
        SearchTerms(("ammonia",), 0),
        SearchTerms(("ammonia",), -1),
    ]
    found = await find(place, asked)
    assert set(found) == set(asked)
    assert all(not result.hits for result in found.values())
    assert all((result.searched == 2) == asked.searchable for asked, result in found.items())


async def test_nothing_is_searched_where_there_is_nothing_to_look_into(db):
    place = await prepare(db, CHEMISTRY, mapping=GraphMapping())
    assert (await one(place, "ammonia")).searched == 0
    empty = LookupOrder(mapping=NOTES, generation="g", partitions=())
    assert (await one((empty, LookupTools(db=db)), "ammonia")).searched == 0
    assert await find(place, []) == {}


# Full-text indexes


async def test_an_index_that_knows_everything_is_asked(db):
    place = await prepare(db, CHEMISTRY, SLEEP)
    await index(
        db, "CREATE FULLTEXT INDEX mine FOR (n:Note|Other) ON EACH [n.name, n.more, n.text, n.x]"
    )
    both = await one(place, "ammonia", "pressure")
    assert titles(both) == ["Haber"]
    assert (both.method, both.searched) == ("full-text index mine", 4)
    assert titles(await one(place, "ammonia", "cats", "pressure", "dreams", needed=3)) == ["dreams"]
    assert titles(await one(place, "ion")) == []
    # It knows a note that is in no partition, and that is no part of the graph.
    assert titles(await one(place, "outside")) == []
    assert titles(await one(place, "ammonia")) == ["Haber", "dreams"]


async def test_an_index_finds_parts_of_identifiers_phrases_and_unspaced_scripts(db):
    place = await prepare(
        db, [note("a", "max_retries of asyncio.timeout"), note("b", "the 量子 physics of cats")]
    )
    await index(db, "CREATE FULLTEXT INDEX mine FOR (n:Note) ON EACH [n.name, n.more, n.text]")
    assert titles(await one(place, "retries")) == ["a"]
    assert titles(await one(place, "timeout")) == ["a"]
    assert titles(await one(place, "max_retries")) == ["a"]
    assert titles(await one(place, "physics of the cat")) == ["b"]
    assert titles(await one(place, "cat physics")) == []
    assert titles(await one(place, "量子")) == ["b"]


async def test_a_large_graph_is_looked_up_by_beginnings_of_words(db, monkeypatch):
    monkeypatch.setattr(lookup_module, "INNER_TOKENS", 0)
    place = await prepare(db, CHEMISTRY, SLEEP)
    await index(db, "CREATE FULLTEXT INDEX mine FOR (n:Note) ON EACH [n.name, n.more, n.text]")
    found = await one(place, "memory")
    assert titles(found) == ["naps"]
    assert found.method == "full-text index mine, by beginnings of words"


EVERYTHING = "CREATE FULLTEXT INDEX mine FOR (n:Note) ON EACH [n.name, n.more, n.text]"


@pytest.mark.parametrize(
    ("term", "held", "inner"),
    [
        ("API", note("a", "The rest.api of it."), True),
        ("retries", note("a", "max_retries are three."), False),
        ("timeout", note("a", "asyncio.timeout is a scope."), False),
        ("2021", note("a", 2021), True),
        ("2021", note("a", "text", more=[2020, 2021]), True),
    ],
)
async def test_what_an_index_cannot_find_is_scanned_for(db, monkeypatch, term, held, inner):
    if not inner:
        monkeypatch.setattr(lookup_module, "INNER_TOKENS", 0)
    place = await prepare(db, [held], SLEEP)
    await index(db, EVERYTHING)
    found = await one(place, term)
    assert titles(found) == ["a"]
    assert found.method.startswith("full-text index mine")
    assert found.method.endswith(", then scan of every node")
    assert (found.complete, found.searched) == (True, 3)


async def test_dates_are_in_no_index_and_found_all_the_same(db):
    place = await prepare(db, [note("a", "text")])
    await db.call("MATCH (n:Note {name: 'a'}) SET n.more = date('2021-05-01')", {}, "write")
    await index(db, EVERYTHING)
    assert titles(await one(place, "2021")) == ["a"]


async def test_what_an_index_does_not_find_in_a_graph_too_large_is_not_known_to_be_absent(db):
    place = await prepare(db, [note("a", "The rest.api of it.")], SLEEP, max_nodes=2)
    await index(db, EVERYTHING)
    found = await one(place, "API")
    assert (titles(found), found.complete) == ([], False)
    assert found.method == "full-text index mine"
    seen = await one(place, "ammonia")
    assert (titles(seen), seen.complete) == (["dreams"], True)
    (group,) = group_absences([reported(1, ["Nothing on the API."], 1)])
    (judged,) = check_absences([group], {search_terms(group.text): found}, {})
    assert judged.status is AbsenceStatus.UNCHECKED


async def test_an_index_that_finds_a_thing_elsewhere_only_leaves_what_was_read_to_a_scan(db):
    read, other = [note("read", "The rest.api of it.")], [note("other", "An API.")]
    place = await prepare(db, read, other, first=frozenset({1}))
    await index(db, EVERYTHING)
    assert titles(await one(place, "API")) == ["read", "other"]
    order, tools = place
    found = await one((replace(order, first=frozenset({2})), tools), "API")
    assert (titles(found), found.method) == (["other"], "full-text index mine")


@pytest.mark.parametrize(
    "made",
    [
        "FULLTEXT INDEX part FOR (n:Note) ON EACH [n.text, n.name]",
        "FULLTEXT INDEX part FOR (n:Other) ON EACH [n.text, n.more, n.name]",
        "FULLTEXT INDEX part FOR ()-[r:Note]-() ON EACH [r.text, r.more, r.name]",
        "FULLTEXT INDEX part FOR (n:Note) ON EACH [n.text, n.more, n.name] "
        "OPTIONS {indexConfig: {`fulltext.analyzer`: 'keyword'}}",
        "TEXT INDEX part FOR (n:Note) ON (n.text)",
    ],
)
async def test_an_index_that_knows_a_part_only_is_not_asked(db, made):
    place = await prepare(db, CHEMISTRY)
    await index(db, f"CREATE {made}")
    found = await one(place, "ammonia")
    assert titles(found) == ["Haber"]
    assert found.method == "scan of every node"


async def test_a_view_of_two_labels_needs_an_index_on_both(db):
    both = GraphMapping(labels=("Note", "Other"), text=("text",))
    place = await prepare(db, CHEMISTRY, mapping=both)
    await index(db, "CREATE FULLTEXT INDEX part FOR (n:Note) ON EACH [n.text]")
    assert (await one(place, "ammonia")).method.startswith("scan")
    await index(db, "CREATE FULLTEXT INDEX whole FOR (n:Note|Other) ON EACH [n.text]")
    assert (await one(place, "ammonia")).method == "full-text index whole"


async def test_scan_and_index_agree_with_reading_every_node(db):
    random = Random(7)
    said = (
        "cat cats catalog ion ions formation arXiv max_retries city cities Memory of the 量子 GPT-4"
    )
    texts = [" ".join(random.choices(said.split(), k=random.randint(0, 6))) for _ in range(60)]
    place = await prepare(
        db, *([note(f"n{i}", texts[i]) for i in range(p, 60, 3)] for p in range(3))
    )
    terms = ["cat", "ion", "arxiv", "retries", "city", "memories", "量子", "GPT-4", "cat of ions"]
    asked = [
        SearchTerms(tuple(chosen), needed)
        for size in range(1, 5)
        for chosen in (random.sample(terms, size) for _ in range(6))
        for needed in range(1, size + 1)
    ]

    async def holders():
        found = await find(place, asked)
        return {each: sorted(titles(found[each])) for each in asked}

    read = {
        each: sorted(f"n{i}" for i, text in enumerate(texts) if Page.of(text).counts(each))
        for each in asked
    }
    assert await holders() == read
    await index(db, "CREATE FULLTEXT INDEX mine FOR (n:Note) ON EACH [n.name, n.more, n.text]")
    assert await holders() == read


# Bounds


async def test_beyond_its_bound_a_scan_tells_what_it_searched(db):
    notes = [[note(f"n{p}{i}", f"ammonia{p}") for i in range(2)] for p in range(4)]
    place = await prepare(db, *notes, first=frozenset({3}), max_nodes=5)
    found = await one(place, "ammonia2")
    assert titles(found) == ["n20", "n21"]
    assert (found.searched, found.method) == (4, "scan of 4 of 8 nodes")
    assert titles(await one(place, "ammonia3")) == []


async def test_the_bound_counts_tokens_too(db):
    place = await prepare(db, CHEMISTRY, SLEEP, max_tokens=150)
    assert (await one(place, "cats")).searched == 2
    await database.empty(db)
    nothing = await prepare(db, max_tokens=0)
    assert (await one(nothing, "cats")).searched == 0


async def test_what_is_in_very_many_nodes_is_looked_for_as_far_as_needed(db, monkeypatch):
    monkeypatch.setattr(lookup_module, "CANDIDATES", 3)
    monkeypatch.setattr(lookup_module, "PORTION_NODES", 5)
    notes = [[note(f"n{p}{i}", "ammonia") for i in range(5)] for p in range(3)]
    place = await prepare(db, *notes)
    found = await one(place, "ammonia")
    assert titles(found) == ["n00", "n01", "n02"]
    assert (found.count, found.complete, found.searched) == (3, False, 5)
    assert found.method.endswith(", the first 3 candidates")


async def test_a_word_that_hides_in_many_others_is_found_all_the_same(db, monkeypatch):
    monkeypatch.setattr(lookup_module, "CANDIDATES", 3)
    notes = [note(f"n{i}", "the formation of onions") for i in range(9)]
    place = await prepare(db, [*notes, note("ions", "An ion moves.")])
    found = await one(place, "ion")
    assert titles(found) == ["ions"]
    assert found.complete
    assert titles(await one(place, "mati")) == []


class Lines:
    """An embedder that knows where a few words are on a circle."""

    name, dimensions, threshold = "lines", 2, None

    def __init__(self, error=None):
        self.error = error

    async def embed(self, texts):
        if self.error:
            raise self.error
        return np.asarray([[1.0, 0.0] if "ammonia" in text else [0.0, 1.0] for text in texts])

    async def close(self):
        pass


VECTORS = GraphMapping(labels=("Note",), text=("text",), title="name", key="name", embedding="v")


async def vectors(db, **more):
    notes = [
        [note(f"n{p}{i}", f"ammonia{p}", v=[1.0, 0.1 * p]) for i in range(2)] for p in range(3)
    ]
    return await prepare(db, *notes, mapping=VECTORS, max_nodes=2, **more)


async def test_beyond_the_bound_the_nearest_nodes_are_looked_into(db):
    place = await vectors(db, embedder=Lines())
    assert titles(await one(place, "ammonia2")) == []
    [name] = await topk.create_indexes(db, VECTORS, 2)
    await db.call("CALL db.awaitIndexes()", {}, "read")
    found = await one(place, "ammonia2")
    assert titles(found) == ["n20", "n21"]
    assert found.searched == 2
    assert found.method == (f"scan of 2 of 6 nodes and of the 6 nearest by vector index {name}")
    # What is near and does not hold the words is no hit.
    assert titles(await one(place, "ammonia9")) == []


async def test_an_embedder_that_fails_leaves_the_scan(db):
    place = await vectors(db, embedder=Lines(ModelUnavailableError("gone")))
    await topk.create_indexes(db, VECTORS, 2)
    await db.call("CALL db.awaitIndexes()", {}, "read")
    assert (await one(place, "ammonia0")).method == "scan of 2 of 6 nodes"


async def test_a_database_error_passes_through(db):
    place = await prepare(db, CHEMISTRY)
    db.timeout_s = 0.0001
    with pytest.raises(DatabaseError):
        await one(place, "ammonia")


# All together, on real partitions


@pytest.fixture
async def engine(endpoint, db):
    async with engine_on_papers(endpoint, db) as opened:
        yield opened


def reported(partition, absences, last):
    return Sweep(
        partition=partition,
        status=SweepStatus.ACCEPTED,
        nodes=last,
        read=((0, last),),
        report=Report(partition=partition, absences=tuple(Absence(text=text) for text in absences)),
    )


async def test_absences_of_reports_are_contradicted_elsewhere_or_confirmed(db, engine):
    made = await engine.partition("papers")
    parts = {part.id: part for part in made.partitions}
    _, rows = await db.call(
        "MATCH (n:Paper)-[:PGS_IN]->(p:PgsPartition) "
        "RETURN n.topic AS topic, collect(DISTINCT p.id) AS ids ORDER BY topic",
        {},
        "read",
    )
    ammonia, sleep, debris, _ = (row["ids"][0] for row in rows)
    sweeps = [
        reported(sleep, ["No discussion of the catalysis of ammonia.", "Nothing on fact0."], 40),
        reported(ammonia, ["No mention of orbital debris", "No dark matter here"], 40),
    ]
    order = LookupOrder(
        mapping=MAPPING,
        generation=made.generation.id,
        partitions=made.partitions,
        first=frozenset({sleep, ammonia}),
    )
    warnings = []
    async with Lookups(partial(look_up, order, LookupTools(db=db)), warnings.append) as lookups:
        for each in sweeps:
            lookups.begin(each.report)
        hits = await lookups.finish(30)
    read = {part: frozenset(range(parts[part].size)) for part in (sleep, ammonia)}
    judged = {each.text: each for each in check_absences(group_absences(sweeps), hits, read)}
    catalysis = judged["No discussion of the catalysis of ammonia."]
    assert catalysis.status is AbsenceStatus.CONTRADICTED
    assert catalysis.count == 40
    assert {(s.partition, s.read) for s in catalysis.sightings} == {(ammonia, True)}
    assert judged["Nothing on fact0."].sightings[0].title == "Paper 0"
    orbits = judged["No mention of orbital debris"]
    assert orbits.status is AbsenceStatus.ELSEWHERE
    assert {(s.partition, s.read) for s in orbits.sightings} == {(debris, False)}
    assert judged["No dark matter here"].status is AbsenceStatus.CONFIRMED
    assert judged["No dark matter here"].searched == 160
    assert warnings == []


async def test_cited_nodes_that_a_relationship_connects_are_linked(db, engine):
    made = await engine.partition("papers")
    _, rows = await db.call(
        "MATCH (n:Paper)-[m:PGS_IN]->(p:PgsPartition) WHERE n.doi IN ['doi/0', 'doi/40', 'doi/80'] "
        "RETURN n.doi AS doi, p.id AS partition, m.rank AS rank",
        {},
        "read",
    )
    at = {row["doi"]: (row["partition"], row["rank"]) for row in rows}
    pairs = [(at["doi/0"], at["doi/40"]), (at["doi/40"], at["doi/80"])]
    expected = sorted((min(pair), max(pair)) for pair in pairs)
    link = partial(read_links, db, made.generation.id)
    assert await link(MAPPING, at.values()) == expected
    assert await link(GraphMapping(), at.values()) == expected
    assert await link(GraphMapping(relationship_types=("OTHER",)), at.values()) == []
    assert await link(MAPPING, [at["doi/0"], at["doi/80"], (99, 0), (1, 999)]) == []
    assert await link(MAPPING, [at["doi/0"]]) == []
    assert await link(MAPPING, []) == []
    every = [(part.id, rank) for part in made.partitions for rank in range(part.size)]
    # Neighbors within a partition are no links, so only the three bridges are.
    assert len(await link(MAPPING, every)) == 3
