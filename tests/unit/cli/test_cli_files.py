"""Files are there whole or not at all, and none is lost unasked."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pgs_neo4j.cli.files import check_target, write_whole
from pgs_neo4j.errors import UsageError


def test_a_file_is_written_whole_nothing_stays_beside_it_and_a_link_is_followed(
    tmp_path: Path,
) -> None:
    target = tmp_path / "answer.md"
    assert write_whole(str(target), "größer\n", force=False) == 9
    assert target.read_text("utf-8") == "größer\n"
    assert [*tmp_path.iterdir()] == [target]
    (tmp_path / "real.md").write_text("before")
    link = tmp_path / "link.md"
    link.symlink_to("real.md")
    write_whole(str(link), "after", force=True)
    assert link.is_symlink()
    assert (tmp_path / "real.md").read_text() == "after"


def test_what_is_there_stays_without_force(tmp_path: Path) -> None:
    target = tmp_path / "answer.md"
    target.write_text("before")
    target.chmod(0o600)
    for refused in (check_target, lambda name, force: write_whole(name, "x", force=force)):
        with pytest.raises(UsageError, match="--force"):
            refused(str(target), force=False)
    assert target.read_text() == "before"
    write_whole(str(target), "after", force=True)
    assert target.read_text() == "after"
    assert target.stat().st_mode & 0o777 == 0o600
    assert [*tmp_path.iterdir()] == [target]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("none/answer.md", "there is no folder"),
        (".", "is a folder"),
        ("x" * 300 + ".md", "cannot be written"),
    ],
)
@pytest.mark.parametrize("force", [True, False])
def test_where_no_file_can_be_is_one_sentence(
    tmp_path: Path, name: str, said: str, force: bool
) -> None:
    for refused in (check_target, lambda name, force: write_whole(name, "x", force=force)):
        with pytest.raises(UsageError, match=said):
            refused(str(tmp_path / name), force=force)
    assert [*tmp_path.iterdir()] == []


def test_a_device_is_left_alone() -> None:
    with pytest.raises(UsageError, match="not an ordinary file"):
        check_target("/dev/null", force=True)


def test_the_disk_that_is_full_leaves_what_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "answer.md"
    target.write_text("before")

    def full(number: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(UsageError, match="cannot be written: No space left"):
        write_whole(str(target), "after", force=True)
    assert target.read_text() == "before"
    assert [*tmp_path.iterdir()] == [target]
