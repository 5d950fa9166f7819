"""The demo graph: the standard library as it is, and small libraries made for the purpose."""

import shutil
import sys
import sysconfig
from collections import Counter
from pathlib import Path

import pytest

from pgs_neo4j.engine.demo.graph import WEIGHTS, DemoGraph, build_demo, demo_file
from pgs_neo4j.errors import InputFileError

STDLIB = Path(sysconfig.get_path("stdlib"))


def library(folder: Path, **files: str) -> Path:
    """Write files; ``pack_IN_core`` is ``pack/core.py``, ``pack_IN_init`` its ``__init__``."""
    for name, text in files.items():
        parts = ["__init__" if part == "init" else part for part in name.split("_IN_")]
        path = folder.joinpath(*parts).with_suffix(".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def edges(graph: DemoGraph) -> set[tuple[str, str, str]]:
    return {(r.source, r.target, r.type) for r in graph.relationships}


@pytest.fixture(scope="module")
def stdlib(tmp_path_factory: pytest.TempPathFactory) -> DemoGraph:
    """Some of the standard library, with files that are left out of it."""
    folder = tmp_path_factory.mktemp("stdlib")
    for name in ("asyncio", "email", "json", "logging"):
        shutil.copytree(STDLIB / name, folder / name)
    shutil.copy(STDLIB / "threading.py", folder)
    library(folder, test_IN_a="", idlelib_IN_a="", json_IN___main__="", json_IN_tests_IN_a="")
    return build_demo(folder)


@pytest.mark.thorough
def test_the_standard_library_is_a_graph_of_thousands() -> None:
    whole = build_demo()
    kinds = Counter(node.kind for node in whole.nodes)
    types = Counter(r.type for r in whole.relationships)
    assert len(whole.nodes) > 5000
    assert (kinds["module"] > 200, kinds["class"] > 800, kinds["function"] > 1000) == (True,) * 3
    assert types.keys() == WEIGHTS.keys()
    assert min(types.values()) > 300
    bound = {end for r in whole.relationships for end in (r.source, r.target)}
    assert len(whole.nodes) - len(bound) <= 5


def test_ids_are_unique_relationships_have_their_ends_and_tests_are_left_out(
    stdlib: DemoGraph,
) -> None:
    ids = {node.id for node in stdlib.nodes}
    assert len(ids) == len(stdlib.nodes) > 1000
    assert all(r.source in ids and r.target in ids for r in stdlib.relationships)
    assert all(r.source != r.target for r in stdlib.relationships)
    assert len(edges(stdlib)) == len(stdlib.relationships)
    assert {r.type for r in stdlib.relationships} == WEIGHTS.keys()
    parts = {part for node in stdlib.nodes for part in node.module.split(".")}
    assert not parts & {"test", "tests", "idlelib", "__main__"}


def test_known_facts_of_the_standard_library(stdlib: DemoGraph) -> None:
    nodes = {node.id: node for node in stdlib.nodes}
    decode = nodes["json.decoder.JSONDecoder.decode"]
    assert (decode.kind, decode.name, decode.module) == ("method", "decode", "json.decoder")
    assert decode.labels == ("Method",)
    assert decode.text.startswith("def decode(self, s, ")
    assert "containing a JSON document" in decode.text
    assert nodes["threading"].weight > nodes["threading.Thread.join"].weight >= 1.0
    assert edges(stdlib) >= {
        ("json", "json.decoder", "CONTAINS"), ("json.decoder", "json.scanner", "IMPORTS"),
        ("json.decoder", "json.decoder.JSONDecoder", "CONTAINS"),
        ("threading.Timer", "threading.Thread", "INHERITS"),
        ("logging.StreamHandler", "logging.Handler", "INHERITS"),
    }  # fmt: skip


def test_nothing_of_the_library_is_imported_and_no_source_is_said_plainly(tmp_path: Path) -> None:
    build_demo(library(tmp_path / "lib", pgs_demo_probe="raise SystemExit('imported')"))
    assert "pgs_demo_probe" not in sys.modules
    (tmp_path / "empty").mkdir()
    for folder in (tmp_path / "empty", tmp_path / "none"):
        with pytest.raises(InputFileError, match="no Python source"):
            build_demo(folder)


def test_relationships_are_found_through_packages_and_reexports(tmp_path: Path) -> None:
    graph = build_demo(
        library(
            tmp_path,
            pack_IN_init="from .core import BaseThing\nfrom . import extra",
            pack_IN_core='class BaseThing:\n    """Made by make_thing."""',
            pack_IN_extra="class More(core.BaseThing): pass\nfrom pack import core",
            user="import pack as p\nclass Mine(p.BaseThing):\n    def run(self): pass",
            maker='def make_thing():\n    """See pack.extra and user.Mine; not pack.gone."""',
        )
    )
    assert edges(graph) == {
        ("pack", "pack.core", "CONTAINS"), ("pack", "pack.extra", "CONTAINS"),
        ("pack.core", "pack.core.BaseThing", "CONTAINS"),
        ("pack.extra", "pack.extra.More", "CONTAINS"), ("user", "user.Mine", "CONTAINS"),
        ("user.Mine", "user.Mine.run", "CONTAINS"), ("maker", "maker.make_thing", "CONTAINS"),
        ("pack.extra", "pack", "IMPORTS"), ("pack.extra", "pack.core", "IMPORTS"),
        ("user", "pack", "IMPORTS"), ("pack.extra.More", "pack.core.BaseThing", "INHERITS"),
        ("user.Mine", "pack.core.BaseThing", "INHERITS"),
        ("pack.core.BaseThing", "maker.make_thing", "MENTIONS"),
        ("maker.make_thing", "pack.extra", "MENTIONS"),
        ("maker.make_thing", "user.Mine", "MENTIONS"),
    }  # fmt: skip


def test_a_shared_or_ordinary_name_is_no_mention(tmp_path: Path) -> None:
    graph = build_demo(
        library(
            tmp_path,
            a='def twice_here(): pass\ndef process(): pass\ndef sorted(): pass\n"""x"""',
            b="def twice_here(): pass",
            c='"""twice_here(), to process, sorted()."""',
            d='"""process() is a call."""',
        )
    )
    assert {e for e in edges(graph) if e[2] == "MENTIONS"} == {("d", "a.process", "MENTIONS")}


def test_private_names_count_only_with_a_docstring_and_documented_definitions_for_all(
    tmp_path: Path,
) -> None:
    source = 'class _A:\n  def f(self): pass\nclass _B:\n  """B."""\n  def __len__(self): pass\n'
    graph = build_demo(library(tmp_path / "private", m=source))
    assert [node.id for node in graph.nodes] == ["m", "m._B"]
    source = 'try:\n  def f(a): pass\nexcept ValueError:\n  def f(b):\n    """Real."""\n'
    source += 'def f(c):\n  """Late."""\n'
    graph = build_demo(library(tmp_path / "several", m=source))
    assert [node.text for node in graph.nodes] == ["module m", "def f(b)\n\nReal."]


def test_files_are_read_in_their_encoding_and_broken_ones_left_out(tmp_path: Path) -> None:
    library(tmp_path, good='"""Good."""', broken="def (", nul="x = '\0'")
    (tmp_path / "old.py").write_bytes('# coding: latin-1\n"""Größe."""\n'.encode("latin-1"))
    (tmp_path / "wrong.py").write_bytes(b'"""\xff\xfe"""\n')
    (tmp_path / "warned.py").write_text('"""W."""\nx = "\\d"\n')
    graph = build_demo(tmp_path)
    assert [node.id for node in graph.nodes] == ["good", "old", "warned"]
    assert graph.nodes[1].text == "module old\n\nGröße."


def test_imports_in_a_circle_end_and_the_same_files_give_the_same_graph(tmp_path: Path) -> None:
    library(tmp_path, a="from b import x\nclass A(x): pass", b="from a import x")
    library(tmp_path, c="import a\nclass ZedBase: pass", d='"""ZedBase"""\nimport c')
    graph = build_demo(tmp_path)
    assert {e for e in edges(graph) if e[2] == "INHERITS"} == set()
    assert build_demo(tmp_path) == graph


def test_the_demo_is_loaded_like_any_file(stdlib: DemoGraph) -> None:
    file = demo_file(stdlib)
    assert len(file.nodes) == len(stdlib.nodes)
    first, relationship = stdlib.relationships[0], file.relationships[0]
    assert file.nodes[relationship.source].id == first.source
    assert file.nodes[relationship.target].id == first.target
    assert (file.mapping.key, file.mapping.title, file.mapping.text) == ("id", "id", ("text",))
