"""Python files read without importing them: which count, and what names mean."""

from pathlib import Path

from pgs_neo4j.demo.stdlib import Library, read_library


def library(folder: Path, **files: str) -> Library:
    for name, text in files.items():
        path = folder / (name.replace("__", "/") + ".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return read_library(folder)


def test_definitions_have_qualified_names_kinds_and_docstrings(tmp_path: Path) -> None:
    code = '"""M."""\nclass A:\n    """An A."""\n    def run(self, x):\n        """Run it."""\n'
    definitions = library(tmp_path, mod=code).definitions
    assert {name: d.kind for name, d in definitions.items()} == {
        "mod": "module",
        "mod.A": "class",
        "mod.A.run": "method",
    }
    assert definitions["mod.A.run"].doc == "Run it."


def test_files_that_do_not_parse_are_skipped(tmp_path: Path) -> None:
    assert set(library(tmp_path, good="x = 1", bad="def (").sources) == {"good"}


def test_a_missing_folder_is_an_empty_library(tmp_path: Path) -> None:
    assert read_library(tmp_path / "nowhere") == Library({}, {})


def test_the_first_documented_definition_wins(tmp_path: Path) -> None:
    code = 'def f(): pass\ndef f():\n    """Second."""\ndef f():\n    """Third."""\n'
    assert library(tmp_path, mod=code).definitions["mod.f"].doc == "Second."


def test_names_resolve_through_imports_and_reexports(tmp_path: Path) -> None:
    found = library(
        tmp_path,
        core="class Thing:\n    def go(self): pass\n",
        api="from core import Thing\n",
        user="from api import Thing as T\nimport core\n",
    )
    assert found.resolve("user", "T") == "core.Thing"
    assert found.resolve("user", "core.Thing") == "core.Thing"
    assert found.resolve("user", "absent") is None
    assert found.resolve("nowhere", "T") is None
    assert found.resolve("user", "T", hops=0) is None


def test_imports_in_a_circle_end(tmp_path: Path) -> None:
    found = library(tmp_path, a="from b import x\n", b="from a import x\n")
    assert found.resolve("a", "x") is None
