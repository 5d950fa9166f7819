"""Bulk imports without a server: files, flags, output of the importer, and replacement."""

import sys
import threading
from importlib import import_module

import pytest

from pgs_neo4j.database.local import credentials, process
from pgs_neo4j.database.probe import Readiness
from pgs_neo4j.errors import InputFileError, LocalServerError, UsageError
from pgs_neo4j.events import Progressed, StepStarted

module = import_module("pgs_neo4j.database.local.bulk_import")  # the function has its name


@pytest.fixture
def staged(paths):
    """A data directory with an empty staging folder."""
    module.prepare_staging(paths, "a=b\n")
    return paths


def run(paths, *lines: str, code: int = 0):
    """The output and the events of an importer that prints these lines."""
    events: list = []
    script = f"print({chr(10).join(lines)!r}); raise SystemExit({code})"
    output = module.run_admin(
        [sys.executable, "-c", script],
        paths,
        lambda line: module._report_progress(line, events.append),
        threading.Event(),
    )
    return output, events


@pytest.mark.parametrize(
    "entry",
    ["{}/n.csv", "Paper={}/n.csv", "{}/n.csv,{}/m.csv", "{}/a=b.csv", "Paper={}/part-.*.csv"],
)
def test_an_entry_keeps_its_form_with_absolute_paths(entry, tmp_path, monkeypatch):
    for name in ("n.csv", "m.csv", "a=b.csv"):
        (tmp_path / name).write_text("")
    monkeypatch.chdir(tmp_path)
    relative = entry.replace("{}/", "")
    assert module._make_absolute(relative) == entry.format(tmp_path, tmp_path)


def test_stages_and_percentages_become_events(staged):
    output, events = run(
        staged, "(1/4) Node import 2026-01-01 10:00", ".......... 25% and more", "noise 99% "
    )
    assert events == [
        StepStarted("load", "node import (1 of 4)"),
        Progressed("load", 25, 100, "percent"),
    ]
    assert (staged.logs / "import.log").read_text() == output


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        (("reading", "InputException: row 3.", "Caused by: x"), "InputException: row 3"),
        (("", "It ended.", "Really"), "It ended"),
        (("",), "no reason given"),
    ],
)
def test_a_failed_import_quotes_the_first_line_with_an_error(staged, lines, reason):
    with pytest.raises(InputFileError, match=f"changed nothing: {reason}; see"):
        run(staged, *lines, code=1)


def test_a_cancelled_import_ends_its_process(staged):
    cancelled = threading.Event()
    cancelled.set()
    script = "import time; print('up', flush=True); time.sleep(120)"
    with pytest.raises(LocalServerError, match="interrupted while importing"):
        module.run_admin([sys.executable, "-c", script], staged, lambda event: None, cancelled)


def test_an_incomplete_store_is_an_error(staged):
    with pytest.raises(LocalServerError, match="could not be put in place"):
        module.put_in_place(staged)


@pytest.mark.parametrize(
    ("nodes", "refused"), [(None, "may hold data"), (0, ""), (1, "holds 1 node")]
)
def test_only_an_empty_database_is_replaced(paths, monkeypatch, nodes, refused):
    module.refuse_to_replace(paths)  # there is no database yet
    (paths.data / "databases" / "neo4j").mkdir(parents=True)
    state = process.ServerState(1, 0.0, 7687, 512, 128, "21")
    live = None if nodes is None else (state, None)
    monkeypatch.setattr(process, "find_live", lambda paths: live)
    monkeypatch.setattr(credentials, "read_password", lambda paths: "secret")
    ready = Readiness("5.26.30", "2.13.9", nodes)
    monkeypatch.setattr(module, "probe", lambda port, password, running: ready)
    if refused:
        with pytest.raises(UsageError, match=f"{refused} and an import would replace all of it"):
            module.refuse_to_replace(paths)
    else:
        module.refuse_to_replace(paths)
