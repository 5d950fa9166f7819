"""Reading brain files: what is accepted, and how each fault is named."""

import gzip
import json
import tracemalloc
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pgs_neo4j.documents.loading import brain as brain_files
from pgs_neo4j.documents.loading import json_stream
from pgs_neo4j.documents.loading.brain import DEFAULT_TYPE, parse_brain, read_brain
from pgs_neo4j.documents.loading.json_stream import read_members
from pgs_neo4j.errors import InputFileError
from tests.bench.loading import measure, write_small_objects
from tests.standins import Brain
from tests.thorough import tries


def brain(**changes: Any) -> dict[str, Any]:
    nodes = [
        {"id": 1, "concept": "one", "tag": "t", "weight": 2, "embedding": [0.5, 1]},
        {"id": "b", "concept": "two"},
    ]
    edges = [{"source": 1, "target": "b", "weight": 0.25, "type": "bridge"}]
    return {"metadata": {"name": "x"}, "nodes": nodes, "edges": edges} | changes


def encoded(**changes: Any) -> bytes:
    return json.dumps(brain(**changes)).encode()


def node(**changes: Any) -> bytes:
    return encoded(nodes=[{"id": 7, "concept": "c"} | changes], edges=[])


def edge(**changes: Any) -> bytes:
    return encoded(edges=[{"source": 1, "target": "b"} | changes])


def test_a_brain_is_read_as_written() -> None:
    file = parse_brain(encoded())
    assert [n.id for n in file.nodes] == [1, "b"]
    assert [n.properties for n in file.nodes] == [
        {"concept": "one", "tag": "t", "weight": 2.0}, {"concept": "two"},
    ]  # fmt: skip
    assert file.nodes[0].embedding.tolist() == [0.5, 1.0]
    assert file.nodes[1].embedding is None
    (one,) = file.relationships
    assert (one.source, one.target, one.type, one.weight) == (0, 1, "bridge", 0.25)


def test_the_mapping_names_what_is_there() -> None:
    full, bare = (parse_brain(data).mapping for data in (encoded(), node()))
    assert (full.text, full.key, full.title) == (("concept",), "id", None)
    named = [(one.weight, one.relationship_weight, one.embedding) for one in (full, bare)]
    assert named == [("weight", "weight", "embedding"), (None, None, None)]


def test_optional_keys_may_be_null_or_missing() -> None:
    file = parse_brain(b"\xef\xbb\xbf" + node(tag=None, weight=None, embedding=None))
    assert file.nodes[0].properties == {"concept": "c"}
    assert parse_brain(node(embedding=[])).nodes[0].embedding is None
    (edge_as_text,) = parse_brain(edge(source="1")).relationships
    assert (edge_as_text.source, edge_as_text.type) == (0, DEFAULT_TYPE)


def test_duplicates_and_self_loops_stay_and_are_counted() -> None:
    same = {"source": 1, "target": 1, "type": "t"}
    file = parse_brain(encoded(edges=[same, same, {"source": 1, "target": "b", "type": "t"}]))
    assert (len(file.relationships), file.self_loops) == (3, 2)


def test_keys_without_a_place_are_counted() -> None:
    nodes = [{"id": i, "concept": "", "color": "red"} for i in range(3)]
    file = parse_brain(encoded(nodes=nodes, edges=[{"source": 0, "target": 1, "age": 1}]))
    assert file.ignored == {"edges[].age": 1, "nodes[].color": 3}


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "the file is empty"),
        (b" \n\t", "the file is empty"),
        (b'{"nodes": [],\n  "edges": [}', "line 2, column 13: not JSON"),
        (b'{"nodes": [\n{"id": 1}', "line 2, column 10: not JSON"),
        ('{\n"nodes": "é"}'.encode("latin-1"), "line 2: not UTF-8"),
        ('{"nodes": []}'.encode("utf-16"), "line 1: not UTF-8"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"nodes": [], "edges": ' + b"9" * 5000 + b"}", "integer string conversion"),
        (b"[]", "the file holds a list"),
        (b"null", "the file holds null"),
        (b'{"edges": []}', "nodes: expected a list of objects, found nothing"),
        (b'{"nodes": {}, "edges": []}', "nodes: expected a list of objects, found an object"),
        (b'{"nodes": []}', "edges: expected a list of objects, found nothing"),
        (b'{"nodes": [], "edges": [[]]}', "edges[0]: expected an object, found a list"),
    ],
)
def test_a_malformed_document_is_refused_by_line_or_key(data: bytes, message: str) -> None:
    with pytest.raises(InputFileError) as caught:
        parse_brain(data)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (encoded(nodes=[{"concept": "c"}]), "nodes[0].id: missing"),
        (encoded(nodes=[{"id": 1}]), "nodes[0].concept: missing"),
        (node(id=None), "nodes[0].id: expected a string or integer, found null"),
        (node(id=True), "nodes[0].id: expected a string or integer, found a boolean"),
        (node(id=1.5), "nodes[0].id: expected a string or integer, found a number"),
        (node(id=1 << 63), "nodes[0].id: the integer does not fit into 64 bits"),
        (node(id=""), "nodes[0].id: an id has 1 to 1000 characters, not 0"),
        (node(id="x" * 1001), "nodes[0].id: an id has 1 to 1000 characters, not 1001"),
        (node(concept=3), "nodes[0].concept: expected a string, found a number"),
        (node(concept="a\ud800"), "nodes[0].concept: character 1 is half of a surrogate pair"),
        (node(tag=["a"]), "nodes[0].tag: expected a string, found a list"),
        (node(weight="1"), "nodes[0].weight: expected a number, found a string"),
        (node(weight=True), "nodes[0].weight: expected a number, found a boolean"),
        (node(weight=float("nan")), "nodes[0].weight: nan is not a finite number"),
        (node(weight=10**400), "nodes[0].weight: inf is not a finite number"),
        (node(embedding="x"), "nodes[0].embedding: expected a list of numbers, found a string"),
        (node(embedding=[1, "2"]), "nodes[0].embedding[1]: expected a number, found a string"),
        (node(embedding=[1, None]), "nodes[0].embedding[1]: expected a number, found null"),
        (node(embedding=[0.0, float("inf")]), "nodes[0].embedding[1]: inf is not a finite number"),
        (node(embedding=[10**400]), "nodes[0].embedding: an integer is too large"),
        (
            encoded(nodes=[{"id": 1, "concept": ""}, {"id": "1", "concept": ""}], edges=[]),
            "nodes[1].id: '1' is already the id of nodes[0]",
        ),
        (encoded(edges=[{"target": 1}]), "edges[0].source: missing"),
        (edge(target="x"), "edges[0].target: no node 'x'"),
        (edge(weight=float("-inf")), "edges[0].weight: -inf is not a finite number"),
        (edge(type=4), "edges[0].type: expected a string, found a number"),
        (edge(type=""), "edges[0].type: '' cannot be used"),
        (edge(type="a\0"), "edges[0].type: 'a\\x00' cannot be used"),
        (edge(type="PGS_IN"), "edges[0].type: 'PGS_IN' cannot be used"),
    ],
)
def test_a_wrong_value_is_refused_by_its_key(data: bytes, message: str) -> None:
    with pytest.raises(InputFileError) as caught:
        parse_brain(data)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("packed", [False, True])
def test_gzip_is_known_by_content_not_by_name(tmp_path: Path, packed: bool) -> None:
    path = tmp_path / ("brain.json" if packed else "brain.json.gz")
    path.write_bytes(gzip.compress(encoded()) if packed else encoded())
    assert len(read_brain(path).nodes) == 2


@pytest.mark.parametrize("cut", [3, 12, -1, -9, None])
def test_a_gzip_file_that_is_cut_off_or_damaged_is_refused(tmp_path: Path, cut: int | None) -> None:
    data = bytearray(gzip.compress(encoded()))[:cut]
    if cut is None:
        data[len(data) // 2] ^= 0xFF
    path = tmp_path / "brain.json.gz"
    path.write_bytes(data)
    with pytest.raises(InputFileError, match="cut off or damaged") as caught:
        read_brain(path)
    assert str(caught.value).startswith(str(path))


@pytest.mark.parametrize(("name", "told"), [("none.json", "No such file"), ("", "Is a directory")])
def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path, name: str, told: str) -> None:
    with pytest.raises(InputFileError, match=told):
        read_brain(tmp_path / name)


def test_a_file_that_unpacks_to_too_much_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "bomb.json.gz"
    path.write_bytes(gzip.compress(b" " * 5_000_000))
    with pytest.raises(InputFileError, match="larger than 1,000,000 bytes"):
        read_brain(path, max_size_bytes=1_000_000)
    monkeypatch.setattr(brain_files, "PACKED_FREE_BYTES", 1_000_000)
    monkeypatch.setattr(json_stream, "ITEM_BYTES", 1_000_000)
    path.write_bytes(gzip.compress(b'{"nodes": [' + b" " * 6_000_000 + b'], "edges": []}'))
    with pytest.raises(InputFileError, match="unpacks to over 200 times its size"):
        read_brain(path)
    path.write_bytes(gzip.compress(b'{"nodes": [' + b"0," * 200_000 + b'0], "edges": []}'))
    with pytest.raises(InputFileError, match=r"nodes\[0\]: expected an object, found a number"):
        read_brain(path)
    path.write_bytes(b'{"other": [' + b"0," * 1_000_000 + b"0]}")
    with pytest.raises(InputFileError, match="a value of more than 1,000,000 characters"):
        read_brain(path)


def test_small_objects_take_little_memory(tmp_path: Path) -> None:
    path = tmp_path / "small.json"
    size_mb = tries(5, 20)
    write_small_objects(path, size_mb * 1_000_000)
    megabytes, _ = measure(path)
    assert megabytes < 4.0 * size_mb


DOCUMENT = json.dumps(
    {
        "about": [1, {"a": "b"}, "\u00e9\n"],
        "nodes": [{"id": i, "concept": f"conc\u00e9pt {i}", "weight": i / 3} for i in range(40)],
        "more": -12.5e3,
        "edges": [{"source": i, "target": str(i // 2), "type": "t"} for i in range(40)],
    },
    indent=1,
    ensure_ascii=False,
)


@pytest.mark.parametrize("size", [1, 2, 7, 64, 10_000])
def test_where_a_file_is_cut_into_chunks_makes_no_difference(size: int) -> None:
    def members(text: str, size: int = size) -> list[object]:
        data = text.encode()
        chunks = (data[at : at + size] for at in range(0, len(data), size))
        return list(read_members(chunks, ("nodes", "edges")))

    assert members(DOCUMENT) == members(DOCUMENT, 10 * len(DOCUMENT))
    for cut in range(0, len(DOCUMENT), 97):
        broken = DOCUMENT[:cut] + "\x01" + DOCUMENT[cut:]
        with pytest.raises(json.JSONDecodeError) as caught:
            json.loads(broken)
        error = caught.value
        with pytest.raises(InputFileError) as refused:
            members(broken)
        place = f"line {error.lineno}, column {error.colno}"
        assert str(refused.value) == f"{place}: not JSON ({error.msg})"


@pytest.mark.parametrize("number", ["1.5", "12", "-7.25e-3", "1E+2", "0"])
def test_a_number_may_be_cut_anywhere(number: str) -> None:
    text = f'{{"version": {number}, "nodes": []}}'.encode()
    for cut in range(1, len(text)):
        members = read_members(iter((text[:cut], text[cut:])), ("nodes", "edges"))
        assert next(members) == ("version", None, json.loads(number))
        assert [key for key, _, _ in members] == ["nodes"]
    with pytest.raises(InputFileError, match="line 1, column 14: not JSON"):
        list(read_members(iter((b'{"version": 1', b".x}")), ("nodes", "edges")))


@settings(max_examples=tries(30, 100))
@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.integers() | st.text(),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["nodes", "edges", "id", "concept", "source", "target", "weight"]),
                inner,
                max_size=5,
            )
        ),
        max_leaves=30,
    )
)
def test_any_document_is_read_or_refused(document: Any) -> None:
    with suppress(InputFileError):
        file = parse_brain(json.dumps(document).encode())
        assert len({str(n.id) for n in file.nodes}) == len(file.nodes)


def test_a_demo_graph_is_read_whole(brain: Brain) -> None:
    file = read_brain(brain.path)
    assert (len(file.nodes), len(file.relationships)) == (brain.nodes, brain.relationships)
    assert (file.dimensions, file.self_loops) == ((512,), 0)
    assert {r.type for r in file.relationships} == {"associative", "bridge"}
    assert not file.ignored


def test_dimensions_are_the_distinct_lengths_in_order() -> None:
    nodes = [{"id": at, "concept": "", "embedding": [1.0] * at} for at in (8, 0, 3)]
    nodes.append({"id": 9, "concept": "", "embedding": [1.0] * 8})
    assert parse_brain(encoded(nodes=nodes, edges=[])).dimensions == (3, 8)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("[" * 1_000_000, "nested too deeply"),
        ("[" + "{}," * 3_000_000 + "{}]", "a value of more than 200,000 lists and objects"),
        ("[" + "[]," * 3_000_000 + "[]]", "a value of more than 200,000 lists and objects"),
        ('"' + "x" * 20_000_000 + '"', "a value of more than 16,000,000 characters"),
    ],
    ids=["deep", "objects", "lists", "long"],
)
@pytest.mark.parametrize("beside", [True, False])
def test_a_value_that_takes_more_memory_than_any_node_is_refused(
    value: str, said: str, *, beside: bool, tmp_path: Path
) -> None:
    wrapped = f'{{"about": {value}, "nodes": []}}' if beside else f'{{"nodes": [{value}]}}'
    path = tmp_path / "a.json"
    path.write_text(wrapped)
    tracemalloc.start()
    with pytest.raises(InputFileError, match=said):
        read_brain(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 200_000_000


def test_keys_without_a_place_are_counted_by_name_up_to_a_thousand() -> None:
    nodes = [{"id": number, "concept": "", f"k{number}": 1} for number in range(1500)]
    nodes.append({"id": "long", "concept": "", "k" * 2000: 1})
    file = parse_brain(encoded(nodes=nodes, edges=[]))
    assert len(file.ignored) == 1001
    assert file.ignored["nodes[].…"] == 501
