"""What a wheel holds: all that the package reads, and no tests; and that builds are the same."""

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
    assert {"pgs_neo4j/local/artifacts.lock.json", "pgs_neo4j/py.typed"} <= names
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


def test_all_extras_but_the_large_ones_are_in_one():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    (everything,) = extras["all"]
    named = set(everything.partition("[")[2].rstrip("]").split(","))
    ours = {"test", "lint", "bench", "browser", "fuzz", "site", "suites", "all"}
    within = {"documents", "neo4j-graphrag"}  # of local and graphrag
    assert named == set(extras) - ours - within - {"spacy", "sentence-transformers"}


def test_an_installed_package_finds_its_statements(tmp_path, monkeypatch):
    package = tmp_path / "pgs_neo4j"
    (package / "_cypher" / "one").mkdir(parents=True)
    (package / "_cypher" / "one" / "two.cypher").write_text("")
    monkeypatch.setattr(queries, "__file__", str(package / "database" / "queries.py"))
    assert queries.folder() == package / "_cypher"
    assert queries.names() == ("one/two",)
