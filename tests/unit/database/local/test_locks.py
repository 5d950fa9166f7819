"""Locks between processes: exclusive, cancellable, and bounded in time."""

import threading

import pytest

from pgs_neo4j.database.local import locks
from pgs_neo4j.database.local.locks import hold_lock
from pgs_neo4j.errors import LocalServerError


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(locks, "POLL_S", 0.01)


def test_a_lock_is_free_again_after_its_block_even_if_that_fails(tmp_path):
    with (
        pytest.raises(ValueError, match="inside"),
        hold_lock(tmp_path / "lock", "testing", threading.Event()),
    ):
        raise ValueError("inside")
    for _ in range(2):
        with hold_lock(tmp_path / "lock", "testing", threading.Event(), timeout_s=0.05):
            assert (tmp_path / "lock").exists()


@pytest.mark.parametrize(
    ("interrupted", "told"),
    [
        (False, "another process has been fetching jars for 0 s"),
        (True, "interrupted while fetching jars; run the command again"),
    ],
)
def test_a_second_holder_waits_only_so_long_and_says_for_what(tmp_path, interrupted, told):
    cancelled = threading.Event()
    if interrupted:
        cancelled.set()
    with (
        hold_lock(tmp_path / "lock", "testing", threading.Event()),
        pytest.raises(LocalServerError, match=told),
        hold_lock(tmp_path / "lock", "fetching jars", cancelled, 30.0 if interrupted else 0.0),
    ):
        pytest.fail("the lock was held twice")


def test_a_lock_that_cannot_be_created_names_its_file(tmp_path):
    (tmp_path / "file").write_text("")
    with (
        pytest.raises(LocalServerError, match=r"lock file .*file/lock cannot be used"),
        hold_lock(tmp_path / "file" / "lock", "testing", threading.Event()),
    ):
        pytest.fail("there is no such folder")
