"""Checks of stored graphs on surveys that are made up."""

from dataclasses import replace
from typing import Any

import pytest

from pgs_neo4j.database.search_indexes import SearchIndex
from pgs_neo4j.documents.publish.publication import mapping_of
from pgs_neo4j.engine import catalog
from pgs_neo4j.engine.catalog import StoredGraph
from pgs_neo4j.engine.doctor import graphs
from pgs_neo4j.engine.doctor.graphs import check_search, examine_graphs
from pgs_neo4j.errors import DatabaseAuthError, QueryError
from pgs_neo4j.model import GraphMapping
from tests.unit.engine.survey.samples import label, link, name, of, text, vector
from tests.unit.pgs.partitioning.conftest import generation_of_sizes, stored_partitions

PLAIN = StoredGraph("papers", GraphMapping(text=("body",)))


@pytest.fixture
def world(monkeypatch):
    """Stored graphs, and the survey or the error for each of their labels."""
    stored: list[StoredGraph] = []
    content: dict = {}

    async def list_graphs(db):
        if isinstance(content.get("catalog"), Exception):
            raise content["catalog"]
        return stored

    async def survey(db, labels, types):
        answer = content[labels]
        if isinstance(answer, Exception):
            raise answer
        return answer

    monkeypatch.setattr(catalog, "graphs", list_graphs)

    async def list_indexes(db):
        return []

    monkeypatch.setattr(graphs, "survey", survey)
    monkeypatch.setattr(graphs, "list_search_indexes", list_indexes)
    content[()] = of(label("Paper", text("body")))
    return stored, content


class Partitions:
    """A database that counts the partitions of any generation."""

    def __init__(self, count: int = 9, large: int = 0, limit: int = 100_000) -> None:
        self.answer: dict[str, int] | Exception = {"partitions": count, "large": large}
        self.asked: list[dict] = []
        current = generation_of_sizes(knobs={"max_partition_tokens": limit})
        self.generation = stored_partitions(current, 0)["read_current"]

    async def read(self, query, **values):
        if "tokens" not in values:
            return self.generation
        self.asked.append(values)
        if isinstance(self.answer, Exception):
            raise self.answer
        return [self.answer]


async def examine(configured=None, dimensions=None, db=None, size=10_000.0):
    checks = await examine_graphs(db or Partitions(), configured, dimensions, size)
    return {check.name: check for check in checks}


def embedded(*sizes):
    mapping = GraphMapping(text=("body",), embedding="emb")
    return StoredGraph("ideas", mapping), of(label("Idea", text("body"), vector("emb", *sizes)))


async def test_an_empty_catalog_and_a_mapping_without_text_are_told(world):
    assert (await examine())["graphs"].status == "ok"
    check = (await examine("papers"))["graphs"]
    assert (check.status, check.fix) == ("failed", "store it with 'pgs graph add'")
    world[0].append(StoredGraph("papers", GraphMapping()))
    check = (await examine())["graph papers"]
    assert check.status == "warning"
    assert "pgs ask --structure-only" in check.detail


async def test_what_cannot_be_read_is_a_failure_that_leaves_the_others(world):
    broken = StoredGraph("broken", GraphMapping(labels=("Bad",)))
    world[0].extend([broken, PLAIN])
    world[1][("Bad",)] = QueryError("no such thing")
    checks = await examine()
    assert checks["graph broken"].status == "failed"
    assert checks["graph papers"].status == "ok"
    world[1]["catalog"] = DatabaseAuthError("refused")
    (check,) = await examine_graphs(None, None, None, 1.0)
    assert (check.name, check.status, check.detail) == ("graphs", "failed", "refused")


async def test_partitions_longer_than_a_pass_are_a_warning_with_the_remedy(world):
    world[0].append(StoredGraph("done", PLAIN.mapping, "g7", node_count=12345, partition_count=9))
    assert "partitions of done" not in await examine()
    db = Partitions(large=3)
    check = (await examine(db=db, size=36_571.4))["partitions of done"]
    assert db.asked == [{"generation": "g7", "tokens": 31_085}]
    assert check.status == "warning"
    assert check.detail == "3 of 9 are longer than one pass, so they are read in parts"
    assert "'pgs partition --graph done --force --max-partition-tokens 25000'" in check.fix
    for limit, advised in ((25_001, True), (25_000, False), (2_000, False)):
        checks = await examine(db=Partitions(large=3, limit=limit), size=36_571.4)
        assert ("partitions of done" in checks) is advised, "what was followed is not repeated"
    db.answer = QueryError("no such property")
    check = (await examine(db=db))["partitions of done"]
    assert (check.status, check.detail) == ("failed", "no such property")


@pytest.mark.parametrize(
    ("sizes", "dimensions", "status", "detail"),
    [
        ([(8, 100)], None, "ok", "8 dimensions, on 100 % of the sampled nodes"),
        ([(8, 100)], 8, "ok", "8 dimensions"),
        ([(8, 100)], 16, "warning", "those of the embedder have 16"),
        ([(8, 70), (4, 30)], 8, "warning", "others have 4"),
        ([(8, 40), (0, 60)], None, "warning", "on 40 %"),
        ([(0, 100)], None, "failed", "no sampled node has vectors in emb"),
    ],
)
async def test_embeddings_are_compared_with_the_embedder(world, sizes, dimensions, status, detail):
    graph, content = embedded(*sizes)
    world[0].append(graph)
    world[1][()] = content
    check = (await examine(dimensions=dimensions))["embeddings of ideas"]
    assert check.status == status
    assert detail in check.detail


@pytest.mark.parametrize(("found", "status"), [([], "warning"), (["mine"], "ok")])
async def test_many_embeddings_need_an_index(world, monkeypatch, found, status):
    async def covering_indexes(db, mapping, dimensions):
        return found

    monkeypatch.setattr(graphs, "can_compare_all", lambda count, dimensions: False)
    monkeypatch.setattr(graphs, "covering_indexes", covering_indexes)
    stored, content = embedded((3, 100))
    world[0].append(stored)
    world[1][()] = content
    check = (await examine())["embeddings of ideas"]
    assert check.status == status
    if status == "warning":
        assert check.detail.endswith("; no vector index covers them")
        assert check.fix.startswith("'pgs index create --graph ideas' lets them count")


async def test_a_graph_of_documents_needs_no_other_mapping(world):
    stored, content = world
    documents = GraphMapping(labels=("NotesChunk",), chunk_labels=("NotesChunk",))
    entities = GraphMapping(labels=("NotesEntity",))
    stored += [StoredGraph("notes", documents), StoredGraph("notes.entities", entities)]
    stored.append(StoredGraph("other.entities", entities))
    content[("NotesChunk",)] = content[("NotesEntity",)] = of()
    found = await examine()
    assert found["graph notes"].status == found["graph notes.entities"].status == "ok"
    assert "'pgs ingest' adds documents" in found["graph notes"].detail
    assert found["graph notes.entities"].detail == "no entity was found in its documents"
    assert found["graph other.entities"].status == "failed"


async def test_what_documents_do_not_have_is_no_warning_but_values_of_another_type_are(world):
    stored, content = world
    made = mapping_of("Notes", None)
    stored += [StoredGraph("notes", made, "g1"), StoredGraph("plain", replace(made, **OF_USERS))]
    alone = of(label("NotesChunk", text("text"), name("id")), link("MENTIONED_IN"))
    content[made.labels] = alone
    found = await examine()
    assert (found["graph notes"].status, found["graph notes"].fix) == ("ok", "")
    assert found["graph plain"].status == "warning"
    assert "no node has the label NotesEntity" in found["graph plain"].detail
    assert "pgs graph add" in found["graph plain"].fix
    held = of(label("NotesChunk", text("text"), name("weight")), link("MENTIONED_IN"))
    content[made.labels] = held
    check = (await examine())["graph notes"]
    assert check.status == "warning"
    assert "weight is mapped as weight but holds STRING" in check.detail
    assert "no node has" not in check.detail
    assert "pgs graph add" not in check.fix
    assert "'pgs documents delete --all'" in check.fix


OF_USERS = {"chunk_labels": (), "mention_types": ()}
"""Without these, a mapping is one that a user has stored."""


async def test_indexes_that_cannot_be_listed_leave_the_other_checks(world, monkeypatch):
    async def refuse(db):
        raise QueryError("no right to list indexes")

    world[0].append(PLAIN)
    assert "search of papers" in await examine()
    monkeypatch.setattr(graphs, "list_search_indexes", refuse)
    checks = await examine()
    assert [*checks] == ["graphs", "graph papers"]
    assert checks["graph papers"].status == "ok"


WORDS = GraphMapping(labels=("Paper", "Author"), text=("abstract",), title="name")
VECTORS = replace(WORDS, embedding="v")
FACTS = replace(WORDS, relationship_embedding="v", relationship_types=("CITES",))
PREFIX = "pgs index create --graph papers "


def text_index(labels: str, properties: str, name: str = "words", **more: Any) -> SearchIndex:
    return SearchIndex(
        name=name,
        kind="text",
        entity="node",
        labels=tuple(labels.split()),
        properties=tuple(properties.split()),
        **more,
    )


def vector_index(label: str, entity: Any = "node", **more: Any) -> SearchIndex:
    plain = SearchIndex(
        name=f"on_{label}",
        kind="vector",
        entity=entity,
        labels=(label,),
        properties=("v",),
        dimensions=3,
        similarity="COSINE",
    )
    return replace(plain, **more)


def check(mapping: GraphMapping, *indexes: SearchIndex, **more: Any) -> tuple[str, str]:
    """What is told on a graph of that mapping, and the command."""
    result = check_search(StoredGraph("papers", mapping, **more), indexes)
    assert (result.name, result.status, result.fix) == ("search of papers", "ok", "")
    detail, _, command = result.detail.partition("; optional: ")
    return detail, command


@pytest.mark.parametrize(
    ("indexes", "detail", "options"),
    [
        ([text_index("Paper Author", "abstract name")], "words by index words", ""),
        (
            [text_index("Paper Author", "name")],
            "words by index words, which lacks some texts of Paper, Author",
            "--text",
        ),
        (
            [text_index("Paper", "abstract name")],
            "words by reading every text, because no full-text index holds texts of Author",
            "--text",
        ),
        (
            [text_index("Paper Author", "abstract name", state="POPULATING")],
            "words by reading every text, because no full-text index holds texts of Paper, Author",
            "--text",
        ),
    ],
)
def test_words(indexes: list[SearchIndex], detail: str, options: str) -> None:
    assert check(WORDS, *indexes) == (detail, f"{PREFIX}{options}" if options else "")


def test_the_text_index_of_the_partitions_stands_in_and_a_lack_is_explained() -> None:
    detail, _ = check(WORDS, generation="g1")
    assert detail.startswith("words by the text index of the partitions, because no full-text")
    detail, _ = check(WORDS, generation="g1", redefined=True)
    assert detail.startswith("words by reading every text")
    detail, fix = check(replace(VECTORS, labels=()))
    assert "because the mapping names no label for a full-text index" in detail
    assert detail.endswith("; embeddings without an index, because the mapping names no label")
    assert fix == ""
    detail, fix = check(GraphMapping(labels=("Paper",)))
    assert (detail, fix) == ("no words, because the mapping names neither text nor title", "")


def test_embeddings_and_facts() -> None:
    words = text_index("Paper Author", "abstract name")
    detail, fix = check(VECTORS, words, vector_index("Paper"))
    assert detail.endswith("; embeddings without an index on Author")
    assert fix == f"{PREFIX}--vectors"
    detail, fix = check(VECTORS, words, vector_index("Paper"), vector_index("Author"))
    assert (detail, fix) == ("words by index words; embeddings by index on_Paper, on_Author", "")
    unlike = [
        vector_index("Paper", similarity="EUCLIDEAN"),
        vector_index("Author", dimensions=None),
    ]
    assert check(VECTORS, words, *unlike)[0].endswith("without an index on Paper, Author")
    words = text_index("Paper Author", "abstract name")
    assert check(FACTS, words) == (
        "words by index words; facts without an index",
        PREFIX + "--facts",
    )
    other = vector_index("KNOWS", "relationship")
    assert check(FACTS, words, other, vector_index("CITES"))[1] == PREFIX + "--facts"
    own = vector_index("CITES", "relationship")
    assert check(FACTS, words, own, other)[0].endswith("facts by index on_CITES")
    every = replace(FACTS, relationship_types=())
    assert check(every, words, own, other)[0].endswith("facts by index on_CITES, on_KNOWS")
