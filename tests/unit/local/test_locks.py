"""Locks between processes: exclusive, cancellable, and bounded in time."""

import threading

import pytest

from pgs_neo4j.errors import LocalServerError
from pgs_neo4j.local import locks
from pgs_neo4j.local.locks import hold_lock, raise_if_cancelled


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(locks, "POLL_S", 0.01)


def test_a_lock_is_free_again_after_its_block(tmp_path):
    for _ in range(2):
        with hold_lock(tmp_path / "lock", "testing", threading.Event()):
            assert (tmp_path / "lock").exists()


def test_a_lock_is_released_when_its_block_fails(tmp_path):
    with (
        pytest.raises(ValueError, match="inside"),
        hold_lock(tmp_path / "lock", "testing", threading.Event()),
    ):
        raise ValueError("inside")
    with hold_lock(tmp_path / "lock", "testing", threading.Event(), timeout_s=0.05):
        pass


def test_a_second_holder_waits_only_so_long_and_says_for_what(tmp_path):
    with (
        hold_lock(tmp_path / "lock", "testing", threading.Event()),
        pytest.raises(LocalServerError, match="another process has been fetching jars for 0 s"),
        hold_lock(tmp_path / "lock", "fetching jars", threading.Event(), timeout_s=0.05),
    ):
        pytest.fail("the lock was held twice")


def test_waiting_for_a_lock_can_be_cancelled(tmp_path):
    cancelled = threading.Event()
    cancelled.set()
    with (
        hold_lock(tmp_path / "lock", "testing", threading.Event()),
        pytest.raises(LocalServerError, match="interrupted while fetching jars"),
        hold_lock(tmp_path / "lock", "fetching jars", cancelled),
    ):
        pytest.fail("the lock was held twice")


def test_a_lock_that_cannot_be_created_names_its_file(tmp_path):
    (tmp_path / "file").write_text("")
    with (
        pytest.raises(LocalServerError, match=r"lock file .*file/lock cannot be used"),
        hold_lock(tmp_path / "file" / "lock", "testing", threading.Event()),
    ):
        pytest.fail("there is no such folder")


def test_only_a_set_event_interrupts():
    event = threading.Event()
    raise_if_cancelled(event, "waiting")
    event.set()
    with pytest.raises(LocalServerError, match="interrupted while waiting; run the command again"):
        raise_if_cancelled(event, "waiting")
