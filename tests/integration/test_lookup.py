"""What reports miss is looked for in the whole graph: by text index, or by a bounded scan."""

from dataclasses import replace
from functools import partial
from random import Random

import pytest

from pgs_neo4j.errors import DatabaseError
from pgs_neo4j.model import (
    AbsenceStatus,
    GraphMapping,
    Partition,
    Stated,
)
from pgs_neo4j.pgs.checking.absences import AbsenceGroup, check_absences
from pgs_neo4j.pgs.checking.check import read_links
from pgs_neo4j.search import lookup, scan
from pgs_neo4j.search.lookup import look_up
from pgs_neo4j.search.lookup_order import LookupOrder
from pgs_neo4j.search.paths.words import find_by_shared_words
from pgs_neo4j.text.gist import search_terms
from pgs_neo4j.text.matching import Page, SearchTerms
from pgs_neo4j.text.node_text import joined_text
from pgs_neo4j.text.terms.postings import SegmentBuilder
from tests.database import alter, fetch
from tests.graphs import MAPPING
from tests.scripts import SPELLINGS

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


WRITE_INDEX = """
CREATE (s:PgsSegment {id: 's', size: $size, bits: $bits})
WITH s
CALL (s) {
  UNWIND $cells AS cell
  CREATE (:PgsPostings {uid: 's:' + cell.bucket, data: cell.data})-[:PGS_PART_OF]->(s)
}
UNWIND $firsts AS row
MATCH (p:PgsPartition {uid: row.uid})
SET p.size = COUNT { (p)<-[:PGS_IN]-() }
CREATE (p)-[:PGS_INDEXED_IN {first: row.first}]->(s)
"""


def note(name, text=None, **more):
    return {"name": name, "text": text, **more}


@pytest.fixture(params=["scan", "index"])
def way(request):
    """How the notes are searched."""
    return request.param


async def prepare(db, *partitions, mapping=NOTES, way="scan", **more):
    """An order for the notes given; one more note is in no partition."""
    rows = [{"id": i, "notes": notes} for i, notes in enumerate(partitions, 1)]
    await alter(db, CREATE_PARTITIONS, partitions=rows)
    await alter(db, "CREATE (:Note {name: 'outside', text: 'ammonia outside'})")
    made = tuple(
        Partition(
            id=row["id"],
            uid=f"g:{row['id']}",
            size=len(row["notes"]),
            tokens=100,
            texts=len(row["notes"]),
        )
        for row in rows
    )
    if way == "index":
        await write_index(db, made, mapping)
    return LookupOrder(mapping=mapping, generation="g", partitions=made, **more)


async def write_index(db, partitions, mapping):
    """Index the notes as they are now."""
    rows = await fetch(
        db,
        "MATCH (n)-[m:PGS_IN]->(p:PgsPartition) WHERE p.uid STARTS WITH 'g:' "
        "RETURN p.uid AS uid, m.rank AS rank, n {.*} AS note ORDER BY p.id, m.rank",
    )
    builder, firsts = SegmentBuilder(50.0), {}
    for row in rows:
        firsts.setdefault(row["uid"], builder.size)
        values = [row["note"].get(name) for name in (mapping.title, *mapping.text) if name]
        builder.add([joined_text(values)])
    segment = builder.build()
    cells = [{"bucket": str(bucket), "data": data} for bucket, data in segment.cells.items()]
    await alter(
        db,
        WRITE_INDEX,
        size=segment.size,
        bits=segment.bits,
        cells=cells,
        firsts=[{"uid": uid, "first": first} for uid, first in firsts.items()],
    )


async def one(db, order, *terms, needed=None):
    asked = SearchTerms(terms, len(terms) if needed is None else needed)
    return (await look_up(db, order, [asked]))[asked]


METHODS = {"scan": "scan of every node", "index": "text index"}


def titles(found):
    return [hit.title for hit in found.hits]


CHEMISTRY = (
    note("Haber", "Ammonia from nitrogen at high pressure."),
    note("catalog", "The onion of the formation."),
)
SLEEP = (note("naps", "Cats sleep, and memories stay."), note("dreams", "Of ammonias and cats."))


async def test_every_node_that_holds_enough_of_the_terms_is_found_once(db, way):
    place = await prepare(db, CHEMISTRY, SLEEP, way=way)
    await alter(
        db,
        "MATCH (n:Note {name: 'Haber'}), (p:PgsPartition {uid: 'old:1'}) "
        "CREATE (n)-[:PGS_IN {rank: 7}]->(p)",
    )
    both = SearchTerms(("ammonia", "pressure"), 2)
    either = SearchTerms(("ammonia", "cat", "pressure"), 2)
    found = await look_up(db, place, [both, either])
    assert titles(found[either]) == ["Haber", "dreams"]
    [hit] = found[both].hits
    assert (hit.partition, hit.rank, hit.key, hit.title) == (1, 0, "Haber", "Haber")
    rows = await fetch(
        db, "MATCH (n) WHERE elementId(n) = $id RETURN n.name AS name", id=hit.element_id
    )
    assert rows == [{"name": "Haber"}]
    assert (found[both].searched, found[both].method) == (4, METHODS[way])
    assert found[both].complete
    first = await one(db, replace(place, first=frozenset({2})), "ammonia")
    assert titles(first) == ["dreams", "Haber"]  # partitions to be read first come first


HOSTILE = (
    "", " ", "+", "*", "?*", "a AND b", "NOT", 'say "x', "\\", "foo:bar", "[a TO b]", "{x}", "~2",
    "/re/", "(", "^9", "\x00", "\n", "'; RETURN 1 //", "$text", ".*", "(?s).*", "[^\\W",
    "\ud800", "a\ud800b",
    "عدم وجود", "量子", "हिन्दी", "x" * 100_000, "and or not",
)  # fmt: skip


async def test_hostile_terms_find_nothing_and_break_nothing(db, way):
    place = await prepare(db, CHEMISTRY, way=way)
    asked = [SearchTerms((term,), 1) for term in HOSTILE] + [
        SearchTerms(HOSTILE, 3),
        SearchTerms(HOSTILE, 99),
        SearchTerms((), 0),
        SearchTerms(("ammonia",), 0),
        SearchTerms(("ammonia",), -1),
    ]
    found = await look_up(db, place, asked)
    assert set(found) == set(asked)
    assert all(not result.hits for result in found.values())
    assert all((result.searched == 2) == asked.searchable for asked, result in found.items())


async def test_the_index_is_believed_while_it_is_whole_and_of_today(db):
    place = await prepare(db, CHEMISTRY, SLEEP, way="index")
    # It proves an absence in a graph too large to be scanned.
    found = await one(db, replace(place, max_nodes=0), "plutonium")
    assert (titles(found), found.complete, found.searched) == ([], True, 4)
    # A text that changed since is read as it is, and what it says now takes a scan.
    await alter(db, "MATCH (n:Note {name: 'Haber'}) SET n.text = 'Now plutonium.'")
    assert titles(await one(db, place, "ammonia")) == ["dreams"]
    found = await one(db, replace(place, outdated=True), "plutonium")
    assert (titles(found), found.method) == (["Haber"], "scan of every node")
    await alter(db, "MATCH (p {uid: 'g:2'})-[i:PGS_INDEXED_IN]->() DELETE i")
    assert (await one(db, place, "ammonia")).method == "scan of every node"


async def test_many_candidates_are_verified_until_one_matches(db, monkeypatch):
    monkeypatch.setattr(lookup, "CANDIDATES", 3)
    monkeypatch.setattr(lookup, "MOST_VERIFIED", 9)
    notes = [note(f"n{i}", "cats of physics") for i in range(8)]
    place = await prepare(db, [*notes, note("last", "physics of cats")], way="index")
    found = await one(db, place, "physics of cats")
    assert (titles(found), found.complete) == (["last"], True)
    more = await one(db, place, "cat")
    assert (more.count, more.complete) == (3, False)
    assert more.method == "text index, the first 3 candidates"


# Notes of every kind, and terms that each of them holds, in whatever form.
KINDS = (
    (note("list", ["first", "the second line"]), "second"),
    (note("number", 1998), "1998"),
    (note("later", None, more="nothing but zinc"), "zinc"),
    (note("years", "text", more=[2020, 2021]), "2021"),
    (note("date"), "2011"),
    (note("Photosynthesis", "How plants grow."), "photosynthesis"),
    (note("dot", "The rest.api of it."), "API"),
    (note("underscore", "max_retries are three."), "retries"),
    (note("joined", "All githubs of it."), "GitHub"),
    (note("apart", "All GitHubs of it."), "github"),
    (note("plural", "In theory."), "theories"),
    (note("phrase", "the 量子 physics of cats"), "physics of the cat"),
    (note("unspaced", "the 量子 physics of cats"), "量子"),
    (note("dump", f"A dump: {'x' * 70}."), "x" * 70),
)


async def test_a_search_agrees_with_reading_every_node(db, way):
    random = Random(7)
    said = (
        "cat cats catalog ion ions formation arXiv max_retries city cities Memory of the 量子 GPT-4"
    )
    texts = [" ".join(random.choices(said.split(), k=random.randint(0, 6))) for _ in range(60)]
    notes = [note(f"n{i}", text) for i, text in enumerate(texts)] + [held for held, _ in KINDS]
    place = await prepare(db, *(notes[part::3] for part in range(3)))
    await alter(db, "MATCH (n:Note {name: 'date'}) SET n.more = date('2011-05-01')")
    if way == "index":
        await write_index(db, place.partitions, NOTES)
    terms = ["cat", "ion", "arxiv", "retries", "city", "memories", "量子", "GPT-4", "cat of ions"]
    asked = [
        SearchTerms(tuple(chosen), needed)
        for size in range(1, 5)
        for chosen in (random.sample(terms, size) for _ in range(6))
        for needed in range(1, size + 1)
    ]
    single = {term: SearchTerms((term,), 1) for _, term in KINDS}
    none = [SearchTerms((term,), 1) for term in ("cat physics", "plutonium")]
    read = {each: set() for each in (*asked, *single.values(), *none)}
    for held in notes:
        more = "2011-05-01" if held["name"] == "date" else held.get("more")
        page = Page.of(joined_text([held["name"], held["text"], more]))
        for each in read:
            if page.counts(each):
                read[each].add(held["name"])
    found = await look_up(db, place, [*read])
    assert {each: {*titles(found[each])} for each in read} == read
    assert all(held["name"] in read[single[term]] for held, term in KINDS)
    assert not any(read[each] for each in none)
    assert {(result.complete, result.searched) for result in found.values()} == {(True, 74)}


# Bounds


async def test_beyond_its_bound_a_scan_tells_what_it_searched(db):
    notes = [[note(f"n{p}{i}", f"ammonia{p}") for i in range(2)] for p in range(4)]
    place = await prepare(db, *notes, first=frozenset({3}), max_nodes=5)
    found = await one(db, place, "ammonia2")
    assert titles(found) == ["n20", "n21"]
    assert (found.searched, found.method) == (4, "scan of 4 of 8 nodes")
    assert titles(await one(db, place, "ammonia3")) == []
    assert (await one(db, replace(place, partitions=()), "ammonia2")).searched == 0


async def test_what_is_in_very_many_nodes_is_looked_for_as_far_as_needed(db, monkeypatch):
    monkeypatch.setattr(scan, "CANDIDATES", 3)
    monkeypatch.setattr(scan, "PORTION_NODES", 5)
    notes = [[note(f"n{p}{i}", "ammonia") for i in range(5)] for p in range(3)]
    place = await prepare(db, *notes)
    found = await one(db, place, "ammonia")
    assert titles(found) == ["n00", "n01", "n02"]
    assert (found.count, found.complete, found.searched) == (3, False, 5)
    assert found.method.endswith(", the first 3 candidates")


async def test_a_word_that_hides_in_many_others_is_found_all_the_same(db, monkeypatch):
    monkeypatch.setattr(scan, "CANDIDATES", 3)
    notes = [note(f"n{i}", "the formation of onions") for i in range(9)]
    place = await prepare(db, [*notes, note("ions", "An ion moves.")])
    found = await one(db, place, "ion")
    assert titles(found) == ["ions"]
    assert found.complete
    assert titles(await one(db, place, "mati")) == []


async def test_a_database_error_passes_through(db):
    place = await prepare(db, CHEMISTRY)
    db.timeout_s = 0.0001
    with pytest.raises(DatabaseError):
        await one(db, place, "ammonia")


async def test_cited_nodes_that_a_relationship_connects_are_linked(db, pgs):
    made = await pgs.partitions.build("papers")
    rows = await fetch(
        db,
        "MATCH (n:Paper)-[m:PGS_IN]->(p:PgsPartition) WHERE n.doi IN ['doi/0', 'doi/40', 'doi/80'] "
        "RETURN n.doi AS doi, p.id AS partition, m.rank AS rank",
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


@pytest.mark.parametrize("spelling", SPELLINGS.values(), ids=SPELLINGS)
async def test_no_absence_is_confirmed_although_its_words_stand_in_other_code_points(
    db, way, spelling
):
    order = await prepare(db, (note("a", spelling.text),), SLEEP, way=way)
    texts = [text for text in (spelling.absence, spelling.other) if text]
    groups = [AbsenceGroup((Stated(1, place, text),)) for place, text in enumerate(texts)]
    found = await look_up(db, order, [search_terms(text) for text in texts])
    checked = check_absences(groups, found, {1: frozenset({0})})
    assert checked[0].status == (
        AbsenceStatus.CONTRADICTED if spelling.found else AbsenceStatus.UNCHECKED
    )
    if spelling.other:
        assert checked[1].status == (
            AbsenceStatus.CONFIRMED if spelling.found else AbsenceStatus.UNCHECKED
        )


async def test_a_closer_look_and_shared_words_use_the_normal_form(db):
    words = ("Die Stra\u00dfe nach Gie\u00dfen", "1,200 sur-\nveys", "CO\u2082")
    order = await prepare(db, [note(str(place), text) for place, text in enumerate(words)])
    searches = [SearchTerms((term,), 1) for term in ("Strasse", "1200", "survey", "co2")]
    rows = await scan._find_by_scan(db, order, searches, closely=True)
    assert [rows[search].count for search in searches] == [1, 1, 1, 1]
    assert len(await find_by_shared_words(db, NOTES, "strasse co2", 9)) == 2
