"""The configuration file and the command lines of the local server."""

import pytest

from pgs_neo4j.local import config_files
from pgs_neo4j.local.memory import Memory


def test_the_configuration_is_loopback_only():
    lines = config_files.neo4j_conf(17687, Memory(700, 200)).splitlines()
    settings = dict(line.split("=", 1) for line in lines)
    assert settings["server.bolt.listen_address"] == "127.0.0.1:17687"
    assert settings["server.http.enabled"] == settings["server.https.enabled"] == "false"
    assert settings["dbms.security.allow_csv_import_from_file_urls"] == "false"
    assert settings["dbms.usage_report.enabled"] == "false"
    assert settings["server.memory.pagecache.size"] == "200m"
    assert settings["dbms.security.procedures.unrestricted"] == "gds.*"
    assert all(value.startswith("127.0.0.1") for name, value in settings.items() if "addr" in name)


@pytest.mark.parametrize(("heap_mb", "collector"), [(700, "Serial"), (4096, "Parallel")])
def test_the_command_names_heap_collector_and_marker(paths, tmp_path, heap_mb, collector):
    command = config_files.server_command(
        tmp_path / "java", tmp_path / "jars", "a.Server", paths, Memory(heap_mb, 200), "-Dmarker=1"
    )
    assert command[0] == str(tmp_path / "java")
    assert f"-Xmx{heap_mb}m" in command
    assert f"-XX:+Use{collector}GC" in command
    assert "-Dmarker=1" in command
    assert config_files.UNATTACHED in command
    assert command[command.index("-cp") + 1] == f"{tmp_path}/jars/plugins/*:{tmp_path}/jars/lib/*"
    assert command[-3:] == [
        "a.Server",
        f"--home-dir={paths.data_dir}",
        f"--config-dir={paths.conf}",
    ]


def test_the_offline_tool_sees_no_plugins(tmp_path):
    command = config_files.admin_command(tmp_path / "java", tmp_path / "jars", 300)
    assert "-Xmx300m" in command
    assert command[command.index("-cp") + 1] == f"{tmp_path}/jars/lib/*"
    assert command[-1] == config_files.ADMIN_CLASS


def test_only_brief_work_of_the_offline_tool_is_compiled_little(tmp_path):
    whole, brief = (
        config_files.admin_command(tmp_path / "java", tmp_path / "jars", 300, brief=brief)
        for brief in (False, True)
    )
    assert "-XX:TieredStopAtLevel=1" in brief
    assert "-XX:TieredStopAtLevel=1" not in whole


def test_a_small_heap_is_not_exceeded_at_the_start(paths, tmp_path):
    command = config_files.server_command(
        tmp_path / "java", tmp_path / "jars", "a.Server", paths, Memory(128, 64), "-Dmarker=1"
    )
    assert "-Xms128m" in command
    assert "-Xmx128m" in command


def test_the_address_is_on_loopback():
    assert config_files.uri_of(7687) == "bolt://127.0.0.1:7687"
