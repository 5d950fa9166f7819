"""What a wheel holds: the statements, the lock of the local server, the types, and no tests."""

import subprocess
import sys
import zipfile
from pathlib import Path

from pgs_neo4j.database import queries
from pgs_neo4j.manual import TOPICS

ROOT = Path(__file__).resolve().parents[2]


def test_the_wheel_holds_all_that_the_package_reads(tmp_path):
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True, timeout=120)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    assert {f"pgs_neo4j/_cypher/{name}.cypher" for name in queries.names()} <= names
    assert {"pgs_neo4j/local/artifacts.lock.json", "pgs_neo4j/py.typed"} <= names
    assert {f"pgs_neo4j/manual/{topic}.md" for topic in TOPICS} <= names
    assert not [name for name in names if name.startswith(("tests/", "docker/", "cypher/"))]


def test_an_installed_package_finds_its_statements(tmp_path, monkeypatch):
    package = tmp_path / "pgs_neo4j"
    (package / "_cypher" / "one").mkdir(parents=True)
    (package / "_cypher" / "one" / "two.cypher").write_text("")
    monkeypatch.setattr(queries, "__file__", str(package / "database" / "queries.py"))
    assert queries.folder() == package / "_cypher"
    assert queries.names() == ("one/two",)
