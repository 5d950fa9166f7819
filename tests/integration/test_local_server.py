"""The managed local server, for real: each test has a data directory of its own."""

import asyncio
import stat
import sys
import threading
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from pgs_neo4j.database import connection, local
from pgs_neo4j.database.local import credentials, launch, process
from pgs_neo4j.database.local import runtime as config_files
from pgs_neo4j.database.local import runtime as java
from pgs_neo4j.database.local.options import choose_release, paths_of
from pgs_neo4j.errors import InputFileError, QueryError, ServerStartError, UsageError
from pgs_neo4j.events import ignore
from tests import servers

CALLER = """
import asyncio, sys
from pathlib import Path
from pgs_neo4j.database import local
options = local.LocalOptions(
    data_dir=Path(sys.argv[1]), heap_mb=700, page_cache_mb=64, release=sys.argv[2]
)
print(asyncio.run(local.ensure_running(options)).pid)
"""


@pytest.fixture
async def options(tmp_path, monkeypatch):
    """Options of a fresh data directory, its name not ASCII; its server is stopped at the end."""
    servers.tune(monkeypatch)
    given = local.LocalOptions(
        data_dir=tmp_path / "dätä dir",
        heap_mb=700,
        page_cache_mb=64,
        start_timeout_s=240.0,
        release=servers.RELEASE,
    )
    yield given
    await local.stop(given, timeout_s=30.0)
    assert not local.status(given).running


async def rows(server, text, access="read"):
    async with connection.connect(server.uri, server.user, server.password) as database:
        return (await database.call(text, {}, access))[1]


async def call_from_another_process(options):
    child = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", CALLER, str(options.data_dir), servers.RELEASE),
        stdout=asyncio.subprocess.PIPE,
    )
    out, _ = await child.communicate()
    assert child.returncode == 0
    return int(out)


def csv(folder: Path, name: str, *lines: str) -> Path:
    path = folder / name
    path.write_text("\n".join(lines) + "\n")
    return path


async def make_dump(options, folder: Path) -> Path:
    """Dump the stopped server's database with Neo4j's own tool, under a name of our choice."""
    paths = paths_of(options)
    release = choose_release(paths, options)
    runtime = java.find_java(None, release.java)
    jars = await asyncio.to_thread(launch.fetch, release, paths, options, ignore, threading.Event())
    command = config_files.admin_command(runtime.executable, jars, 512)
    child = await asyncio.create_subprocess_exec(
        *(*command, "database", "dump", "neo4j", f"--to-path={folder}"),
        env=credentials.admin_environment(paths.data_dir),
        cwd=paths.data_dir,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    out, _ = await child.communicate()
    assert child.returncode == 0, out
    return (folder / "neo4j.dump").rename(folder / "my people.dump")


async def test_a_dump_of_the_real_tool_fills_a_server_and_replaces_no_graph_unasked(
    options, tmp_path
):
    source = replace(options, data_dir=tmp_path / "source")
    people = csv(tmp_path, "people.csv", "id:ID,name", "1,Ann", "2,Bo")
    knows = csv(tmp_path, "knows.csv", ":START_ID,:END_ID", "1,2")
    made = {"nodes": [f"Person={people}"], "relationships": [f"KNOWS={knows}"]}
    await local.bulk_import(source, **made)
    server = await local.ensure_running(source)  # writes the folders of its configuration
    await rows(server, "MATCH (a {name: 'Ann'}) SET a.name = 'Änn'", "write")
    await local.stop(source)
    dump = await make_dump(source, tmp_path)

    # An empty server is stopped once the store is complete, and not before.
    first = await local.ensure_running(options)
    cut = tmp_path / "cut.dump"
    cut.write_bytes(dump.read_bytes()[: dump.stat().st_size // 2])
    with pytest.raises(InputFileError, match="loading the dump failed and changed nothing"):
        await local.load_dump(options, dump=cut)
    with pytest.raises(InputFileError, match="is no dump of a Neo4j database"):
        await local.load_dump(options, dump=people)
    assert local.status(options).pid == first.pid
    events = []
    done = await local.load_dump(options, dump=dump, on_event=events.append)
    assert done.stopped_server
    assert done.store_format.startswith("record-aligned-")
    assert done.size_bytes == dump.stat().st_size
    assert any(getattr(event, "phase", "") == "load" for event in events)
    assert not local.status(options).running

    with pytest.raises(UsageError, match=r"may hold data .* add --overwrite"):
        await local.load_dump(options, dump=dump)
    server = await local.ensure_running(options)
    assert server.password == first.password
    who = "MATCH (a:Person)-[:KNOWS]->(b) RETURN a.name AS a, b.name AS b"
    assert await rows(server, who) == [{"a": "Änn", "b": "Bo"}]
    with pytest.raises(UsageError, match="holds 2 nodes"):
        await local.load_dump(options, dump=dump)
    assert local.status(options).running
    assert (await rows(server, who))[0]["b"] == "Bo"
    assert (await local.load_dump(options, dump=dump, overwrite=True)).stopped_server


@pytest.mark.thorough
async def test_one_server_is_filled_shared_recovered_replaced_and_reset(options, tmp_path):
    """Starts take longest, so one data directory goes through all of it."""
    nodes = csv(tmp_path, "people.csv", "id:ID|name|tags:string[]", "1|Ann|a;b", "2|Bo|c")
    edges = csv(tmp_path, "knows.csv", ":START_ID|:END_ID", "1|2")
    entries = {"nodes": [f"Person={nodes}"], "relationships": [f"KNOWS={edges}"]}
    events = []
    done = await local.bulk_import(
        options, **entries, flags=["--delimiter=|", "--array-delimiter=;"], on_event=events.append
    )
    assert done == local.ImportResult(2, 1, 6, stopped_server=False)
    assert any(getattr(event, "phase", "") == "load" for event in events)
    with pytest.raises(UsageError, match="--overwrite"):
        await local.bulk_import(options, **entries, flags=["--delimiter=|"])

    server = await share(options)
    who = "MATCH (a:Person)-[:KNOWS]->(b) RETURN a.name AS a, b.name AS b, a.tags AS tags"
    assert await rows(server, who) == [{"a": "Ann", "b": "Bo", "tags": ["a", "b"]}]
    with pytest.raises(UsageError, match="holds 2 nodes"):
        await local.bulk_import(options, **entries, flags=["--delimiter=|"])
    assert local.status(options).running
    again = await recover(options, server)

    broken = csv(tmp_path, "broken.csv", "id:ID,age:int", "1,old")
    with pytest.raises(InputFileError, match="the import failed and changed nothing"):
        await local.bulk_import(options, nodes=[broken], overwrite=True)
    assert not local.status(options).running
    one = csv(tmp_path, "one.csv", "id:ID,:LABEL", "7,Single")
    done = await local.bulk_import(options, nodes=[one], overwrite=True)
    assert done.nodes == 1
    after = await local.ensure_running(options)
    assert after.password == again.password
    labels = await rows(after, "MATCH (n) RETURN labels(n) AS labels")
    assert labels == [{"labels": ["Single"]}]

    notes = paths_of(options).data_dir / "notes.txt"
    notes.write_text("the user's own")
    assert await local.reset(options)
    assert not local.status(options).running
    assert local.status(options).size_bytes == 0
    assert sorted(each.name for each in notes.parent.iterdir() if each.name[0] != ".") == [
        "notes.txt"
    ]


async def share(options):
    """Callers of several processes get one server."""
    *others, server = await asyncio.gather(
        call_from_another_process(options),
        call_from_another_process(options),
        local.ensure_running(options),
        local.ensure_running(options),
    )
    assert len({others[0], others[1], others[2].pid, server.pid}) == 1
    assert server.uri.startswith("bolt://127.0.0.1:")
    assert server.password not in repr(server)
    assert stat.S_IMODE(paths_of(options).password.stat().st_mode) == 0o600
    addresses = {each.laddr.ip for each in listening(server.pid)}
    assert addresses <= {"127.0.0.1", "::ffff:127.0.0.1", "::1"}
    assert len(addresses) == 1
    assert (await rows(server, "RETURN gds.version() AS v"))[0]["v"] == server.gds
    shown = local.status(options)
    assert (shown.running, shown.pid, shown.uri) == (True, server.pid, server.uri)
    assert shown.heap_mb == 700
    assert shown.memory_bytes > 2**26  # type: ignore[operator]
    assert shown.size_bytes > 0
    return server


async def recover(options, server):
    """A killed server leaves what was committed, and its successor is the same to callers."""
    await rows(server, "CREATE (:Kept {name: 'before the kill'})", "write")
    with pytest.raises(QueryError, match="allow_csv_import_from_file_urls"):
        await rows(server, "LOAD CSV FROM 'file:///etc/hostname' AS line RETURN line")
    psutil.Process(server.pid).kill()
    # As after a start that failed: the password may have been seen, so it is replaced.
    paths = paths_of(options)
    state = process.read_state(paths)
    assert state is not None
    process.write_state(paths, replace(state, ready=False))
    again = await local.ensure_running(options)
    assert again.password != server.password
    assert again.password == paths.password.read_text().strip()
    assert stat.S_IMODE(paths.password.stat().st_mode) == 0o600
    assert again.started
    assert again.pid != server.pid
    assert again.uri == server.uri
    assert await rows(again, "MATCH (n:Kept) RETURN n.name AS name") == [
        {"name": "before the kill"}
    ]
    attached = await local.ensure_running(options)
    assert not attached.started
    assert attached.pid == again.pid
    assert any("Started" in line for line in local.log_tail(options))
    return again


async def test_a_server_that_cannot_start_quotes_its_log(options):
    greedy = local.LocalOptions(data_dir=options.data_dir, heap_mb=900_000_000)
    with pytest.raises(ServerStartError, match=r"ended while starting, its log says: .*heap"):
        await local.ensure_running(greedy)
    assert not local.status(options).running


async def test_a_cancelled_start_leaves_no_process(options):
    task = asyncio.create_task(local.ensure_running(options))
    async with asyncio.timeout(300):
        while process.find_live(paths_of(options)) is None:
            assert not task.done()
            await asyncio.sleep(0.05)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not local.status(options).running


def listening(pid):
    connections = psutil.Process(pid).net_connections("inet")
    return [each for each in connections if each.status == psutil.CONN_LISTEN]
