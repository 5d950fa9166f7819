"""What a wheel holds: all that the package reads, and no tests; and that builds are the same."""

import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

from pgs_neo4j.database import queries
from pgs_neo4j.manual import TOPICS

ROOT = Path(__file__).resolve().parents[2]
MOST_BYTES = 2_200_000
OUTPUT = shutil.ignore_patterns(".git", ".*_cache", "__pycache__", ".venv", "build", "dist")


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    return build(ROOT, tmp_path_factory.mktemp("built"))


def build(source, place):
    """A wheel and a source distribution, by their endings."""
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(place)]
    subprocess.run(command, cwd=source, check=True, capture_output=True, timeout=120)
    return {path.suffix: path for path in place.iterdir()}


def test_the_wheel_holds_all_that_the_package_reads(built):
    with zipfile.ZipFile(built[".whl"]) as archive:
        names = set(archive.namelist())
    assert built[".whl"].stat().st_size < MOST_BYTES
    assert {f"pgs_neo4j/_cypher/{name}.cypher" for name in queries.names()} <= names
    assert {"pgs_neo4j/database/local/artifacts.lock.json", "pgs_neo4j/py.typed"} <= names
    assert {"pgs_neo4j/adapters/map_widget.js", "pgs_neo4j/web/static/map/canvas.js"} <= names
    assert {f"pgs_neo4j/manual/{topic}.md" for topic in TOPICS} <= names
    assert "pgs_neo4j/manual/notebooks/answer.ipynb" in names
    assert {"pgs_neo4j/web/static/index.html", "pgs_neo4j/web/static/app.js"} <= names
    assert not [name for name in names if name.startswith(("tests/", "docker/", "cypher/"))]


def test_two_builds_in_different_places_are_the_same(built, tmp_path):
    shutil.copytree(ROOT, tmp_path / "elsewhere", ignore=OUTPUT, symlinks=True)
    again = build(tmp_path / "elsewhere", tmp_path / "built")
    assert set(again) == {".whl", ".gz"}
    for kind, path in again.items():
        assert path.read_bytes() == built[kind].read_bytes(), path.name


OURS = {"test", "lint", "bench", "browser", "fuzz", "site", "suites"}
"""Extras for those who change the package."""
LARGE = {"spacy", "sentence-transformers"}
IN_QUOTES = re.compile(r"pgs-neo4j\[([^\]{]+)\]|the extra [`']([\w-]+)[`']")


def extras() -> dict[str, list[str]]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return dict(project["optional-dependencies"])


def named_extras(text: str) -> set[str]:
    """The extras that a text installs, or calls so."""
    found = (pair for pairs in IN_QUOTES.findall(text) for pair in pairs if pair)
    return {name.strip() for names in found for name in names.split(",")}


def test_all_extras_but_the_large_ones_are_in_one():
    (everything,) = extras()["all"]
    within = {"documents", "neo4j-graphrag"}  # of local and graphrag
    assert named_extras(everything) == set(extras()) - OURS - within - LARGE - {"all"}


def test_the_readme_lists_all_extras_and_the_large_ones_last():
    rows = re.findall(r"^\| (`.*?) \| (.+) \|$", (ROOT / "README.md").read_text(), re.MULTILINE)
    listed = [name for names, _ in rows for name in re.findall(r"`([\w-]+)`", names)]
    aliases = {"neo4j-graphrag"}
    assert set(listed) == set(extras()) - OURS - {"all"} - aliases
    assert set(listed[-2:]) == LARGE
    (words,) = [words for names, words in rows if "graphrag" in names]
    assert aliases == {"neo4j-graphrag"} & set(re.findall(r"`([\w-]+)`", words))
    assert extras()["graphrag"] == ["pgs-neo4j[neo4j-graphrag]"]
    (words,) = [words for names, words in rows if "`local`" in names]
    assert ("`documents`" in words) == ("documents" in named_extras(extras()["local"][0]))


def test_every_extra_is_in_the_manual_and_whatever_a_text_installs_is_an_extra():
    manual = [*(ROOT / "pgs_neo4j" / "manual").glob("*.md")]
    told = "".join(page.read_text() for page in manual)
    lacking = {name for name in extras() if f"`{name}`" not in told and name not in told}
    assert lacking - OURS - {"all"} == set()
    for path in [ROOT / "README.md", *manual, *(ROOT / "pgs_neo4j").rglob("*.py")]:
        unknown = named_extras(path.read_text()) - set(extras())
        assert unknown == set(), path.name


def test_an_installed_package_finds_its_statements(tmp_path, monkeypatch):
    package = tmp_path / "pgs_neo4j"
    (package / "_cypher" / "one").mkdir(parents=True)
    (package / "_cypher" / "one" / "two.cypher").write_text("")
    monkeypatch.setattr(queries, "__file__", str(package / "database" / "queries.py"))
    assert queries.folder() == package / "_cypher"
    assert queries.names() == ("one/two",)
