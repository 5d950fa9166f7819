"""The configuration file and the command lines of the local server."""

import pytest

from pgs_neo4j.database.local import config_files
from pgs_neo4j.database.local.memory import Memory


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


@pytest.mark.parametrize(
    ("heap_mb", "start_mb", "collector"),
    [(128, 128, "Serial"), (2047, 256, "Serial"), (2048, 256, "Parallel")],
)
def test_the_command_names_heap_collector_and_marker(paths, tmp_path, heap_mb, start_mb, collector):
    memory = Memory(heap_mb, 200)
    command = config_files.server_command(
        tmp_path / "java", tmp_path / "jars", "a.Server", paths, memory, "-Dmarker=1"
    )
    memory_flags = f"-Xms{start_mb}m", f"-Xmx{heap_mb}m", f"-XX:+Use{collector}GC"
    assert {*memory_flags, "-Dmarker=1", config_files.UNATTACHED} <= {*command}
    assert command[command.index("-cp") + 1] == f"{tmp_path}/jars/plugins/*:{tmp_path}/jars/lib/*"
    folders = f"--home-dir={paths.data_dir}", f"--config-dir={paths.conf}"
    assert command[-3:] == ["a.Server", *folders]


@pytest.mark.parametrize("brief", [False, True])
def test_the_offline_tool_sees_no_plugins_and_is_compiled_little_for_brief_work(tmp_path, brief):
    command = config_files.admin_command(tmp_path / "java", tmp_path / "jars", 300, brief=brief)
    assert "-Xmx300m" in command
    assert command[command.index("-cp") + 1] == f"{tmp_path}/jars/lib/*"
    assert ("-XX:TieredStopAtLevel=1" in command) is brief
