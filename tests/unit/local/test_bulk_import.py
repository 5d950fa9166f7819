"""Bulk imports without a server: files, flags, output of the importer, and replacement."""

import sys
import threading
from importlib import import_module

import pytest

from pgs_neo4j.database.probe import Readiness
from pgs_neo4j.errors import InputFileError, LocalServerError, UsageError
from pgs_neo4j.events import Progressed, StepStarted
from pgs_neo4j.local import bulk_import, credentials, process
from pgs_neo4j.local.options import LocalOptions

module = import_module("pgs_neo4j.local.bulk_import")  # the function has its name


@pytest.fixture
def staged(paths):
    """A data directory with an empty staging folder."""
    module._prepare(paths, "a=b\n")
    return paths


def run(paths, *lines: str, code: int = 0):
    """The output and the events of an importer that prints these lines."""
    events: list = []
    script = f"print({chr(10).join(lines)!r}); raise SystemExit({code})"
    output = module._run([sys.executable, "-c", script], paths, events.append, threading.Event())
    return output, events


@pytest.mark.parametrize("entry", ["{}/n.csv", "Paper={}/n.csv", "{}/n.csv,{}/m.csv"])
def test_an_entry_keeps_its_form_with_absolute_paths(entry, tmp_path, monkeypatch):
    (tmp_path / "n.csv").write_text("")
    (tmp_path / "m.csv").write_text("")
    monkeypatch.chdir(tmp_path)
    relative = entry.replace("{}/", "")
    assert module._make_absolute(relative) == entry.format(tmp_path, tmp_path)


def test_a_file_whose_name_has_an_equals_sign_is_a_file(tmp_path, monkeypatch):
    (tmp_path / "a=b.csv").write_text("")
    monkeypatch.chdir(tmp_path)
    assert module._make_absolute("a=b.csv") == f"{tmp_path}/a=b.csv"


def test_a_pattern_of_file_names_is_left_to_the_importer(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert module._make_absolute("Paper=part-.*.csv") == f"Paper={tmp_path}/part-.*.csv"


async def test_an_absent_file_is_refused_before_anything_starts(tmp_path):
    options = LocalOptions(data_dir=tmp_path / "data")
    with pytest.raises(InputFileError, match="there is no file"):
        await bulk_import(options, nodes=[tmp_path / "absent.csv"])
    assert not (tmp_path / "data").exists()


async def test_an_import_needs_a_file_of_nodes(tmp_path):
    with pytest.raises(UsageError, match="there is no file of nodes"):
        await bulk_import(LocalOptions(data_dir=tmp_path / "data"), nodes=[])


@pytest.mark.parametrize("flag", ["--nodes=x.csv", "--verbose", "-v", "array-delimiter=|"])
def test_a_flag_of_the_command_itself_is_refused(flag):
    with pytest.raises(UsageError, match="cannot be passed to the importer"):
        module._check_flags([flag])


def test_other_flags_are_passed_on():
    assert module._check_flags(["--array-delimiter=|", "--bad-tolerance=5"]) == [
        "--array-delimiter=|",
        "--bad-tolerance=5",
    ]


def test_stages_and_percentages_become_events(staged):
    output, events = run(
        staged, "(1/4) Node import 2026-01-01 10:00", ".......... 25% and more", "noise 99% "
    )
    assert events == [
        StepStarted("load", "node import (1 of 4)"),
        Progressed("load", 25, 100, "percent"),
    ]
    assert (staged.logs / "import.log").read_text() == output


def test_a_failed_import_quotes_the_first_line_with_an_error(staged):
    with pytest.raises(InputFileError, match=r"changed nothing: InputException: row 3; see"):
        run(staged, "reading", "InputException: row 3.", "Caused by: x", code=1)


def test_a_failed_import_without_output_has_no_reason(staged):
    with pytest.raises(InputFileError, match="no reason given"):
        run(staged, "", code=1)


def test_a_cancelled_import_ends_its_process(staged):
    cancelled = threading.Event()
    cancelled.set()
    script = "import time; print('up', flush=True); time.sleep(120)"
    with pytest.raises(LocalServerError, match="interrupted while importing"):
        module._run([sys.executable, "-c", script], staged, lambda event: None, cancelled)


def test_the_counts_are_read_from_the_summary():
    text = "IMPORT DONE in 3s.\nImported:\n  12 nodes\n  30 relationships\n  7 properties\n"
    counts = {what: int(count) for count, what in module._COUNT.findall(text)}
    assert counts == {"nodes": 12, "relationships": 30, "properties": 7}


def test_the_new_store_replaces_the_old_one(staged):
    for kind in ("databases", "transactions"):
        (staged.data / kind / "neo4j").mkdir(parents=True)
        (staged.data / kind / "neo4j" / "old").write_text("")
        (staged.staging / "data" / kind / "neo4j").mkdir(parents=True)
        (staged.staging / "data" / kind / "neo4j" / "new").write_text("")
    module._put_in_place(staged)
    for kind in ("databases", "transactions"):
        assert [file.name for file in (staged.data / kind / "neo4j").iterdir()] == ["new"]
        assert (staged.staging / "former" / kind / "neo4j" / "old").exists()


def test_an_incomplete_store_is_an_error(staged):
    with pytest.raises(LocalServerError, match="could not be put in place"):
        module._put_in_place(staged)


def test_a_database_that_may_hold_data_is_not_replaced(paths, monkeypatch):
    module._refuse_to_replace(paths)  # there is no database yet
    (paths.data / "databases" / "neo4j").mkdir(parents=True)
    monkeypatch.setattr(process, "find_live", lambda paths: None)
    monkeypatch.setattr(credentials, "read_password", lambda paths: "secret")
    with pytest.raises(UsageError, match="may hold data and an import would replace all of it"):
        module._refuse_to_replace(paths)


@pytest.mark.parametrize(("nodes", "refused"), [(0, False), (3, True)])
def test_a_running_database_is_replaced_only_if_empty(paths, monkeypatch, nodes, refused):
    (paths.data / "databases" / "neo4j").mkdir(parents=True)
    state = process.ServerState(1, 0.0, 7687, 512, 128, "21")
    monkeypatch.setattr(process, "find_live", lambda paths: (state, None))
    monkeypatch.setattr(credentials, "read_password", lambda paths: "secret")
    ready = Readiness("5.26.30", "2.13.9", nodes)
    monkeypatch.setattr(module, "probe", lambda port, password, running: ready)
    if refused:
        with pytest.raises(UsageError, match="holds 3 nodes"):
            module._refuse_to_replace(paths)
    else:
        assert module._refuse_to_replace(paths) is None
