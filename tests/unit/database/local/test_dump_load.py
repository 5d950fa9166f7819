"""Dumps before they are loaded: what is one, how far loading is, and which stores can be opened."""

import threading
from importlib import import_module

import pytest

from pgs_neo4j.cli.commands.local import import_
from pgs_neo4j.errors import InputFileError, UsageError

module = import_module("pgs_neo4j.database.local.dump_load")

INFO = """Database name:                neo4j
Store format version:         {}
Store format introduced in:   5.0.0
{}Store needs recovery:         false
"""


@pytest.mark.parametrize("begins", [b"DZV1", b"DGV1"])
def test_a_file_that_begins_as_a_dump_is_taken(tmp_path, begins):
    dump = tmp_path / "any name"
    dump.write_bytes(begins + b"more")
    module.check_dump(dump)
    dump.write_bytes(b"x" + begins)
    with pytest.raises(InputFileError):
        module.check_dump(dump)


@pytest.mark.parametrize("data", [b"", b"DZV", b"id:ID,name\n", b"PK\x03\x04"])
def test_any_other_file_is_refused(tmp_path, data):
    other = tmp_path / "x.dump"
    other.write_bytes(data)
    with pytest.raises(InputFileError, match="is no dump of a Neo4j database; make one with"):
        module.check_dump(other)


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    for missing in (tmp_path / "none.dump", tmp_path):
        with pytest.raises(InputFileError, match="cannot be read"):
            module.check_dump(missing)


def test_each_percent_is_told_once():
    events = []
    read = module.report_progress(events.append)
    for line in ("Files: 1/5, data:  0.0%", "data:  0.9%", "noise 50%", "Files: 5/5, data: 100.0%"):
        read(line)
    assert [event.done for event in events] == [0, 100]


@pytest.mark.parametrize(
    ("store_format", "more", "why"),
    [
        ("record-aligned-1.1", "", ""),
        ("record-standard-1.1", "", ""),
        ("block-block-1.1", "", "which Neo4j Community does not open"),
        ("record-high_limit-1.1", "", "--to-format=aligned"),
        ("record-standard-1.0", "Store format superseded in:   5.0.0\n", "Neo4j 5.0.0 replaced"),
    ],
)
def test_a_store_that_the_server_cannot_open_is_refused(
    paths, monkeypatch, store_format, more, why
):
    told = INFO.format(store_format, more)
    monkeypatch.setattr(module, "run_admin", lambda *_, **__: told)
    if why:
        with pytest.raises(InputFileError, match=why):
            module._check_format([], paths, threading.Event())
    else:
        assert module._check_format([], paths, threading.Event()) == store_format


def test_a_dump_and_files_of_nodes_do_not_go_together(tmp_path):
    with pytest.raises(UsageError, match="leave out --nodes"):
        import_(nodes=["n.csv"], dump=tmp_path / "x.dump")
