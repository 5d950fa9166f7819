"""A disk that is nearly full."""

import shutil
from collections import namedtuple

import pytest

from pgs_neo4j.database.server import room_guard
from pgs_neo4j.errors import DatabaseFullError

Usage = namedtuple("Usage", "total used free")


def test_a_write_needs_its_room(tmp_path, monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(10**9, 9 * 10**8, 10**8))
    require = room_guard(tmp_path)
    require(100)
    with pytest.raises(DatabaseFullError) as caught:
        require(101)
    assert str(caught.value) == (
        "the disk of the local server has 100 MB left, and Neo4j needs 101 MB to write safely; "
        f"free space on the disk of {tmp_path} and repeat the command"
    )


def test_a_folder_that_is_gone_is_not_judged(tmp_path):
    require = room_guard(tmp_path)
    with pytest.raises(DatabaseFullError):
        require(10**12)
    tmp_path.rmdir()
    assert require(10**12) is None
