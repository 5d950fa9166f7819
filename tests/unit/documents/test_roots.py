"""Which folder a document is of, and when its file is known to be gone from there."""

from __future__ import annotations

from pathlib import Path

import pytest

from pgs_neo4j.documents.sources.find import ReadFolder, find_sources, folder_of, root_hashes
from pgs_neo4j.documents.sources.loader import FileLoader
from pgs_neo4j.model.documents import DocumentSource

TAKES = FileLoader().takes


def shared(one: Path, other: Path) -> bool:
    return not {*root_hashes(one)}.isdisjoint(root_hashes(other))


def test_a_folder_is_the_same_from_any_place_and_by_any_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, other = tmp_path / "notes", tmp_path / "other"
    for place in (folder, other):
        place.mkdir()
    monkeypatch.chdir(tmp_path)
    assert root_hashes(Path("notes")) == root_hashes(folder) == root_hashes(folder / "x" / "..")
    monkeypatch.chdir(other)
    assert root_hashes(Path("../notes")) == root_hashes(folder)
    assert not shared(folder, other)
    link = tmp_path / "current"
    link.symlink_to(folder)
    before = root_hashes(link)
    assert shared(link, folder)
    link.unlink()
    link.symlink_to(other)
    assert shared(link, other)
    assert {*before} & {*root_hashes(link)}


def test_the_path_of_a_folder_is_not_in_its_hashes(tmp_path: Path) -> None:
    assert all(len(one) == 32 and int(one, 16) >= 0 for one in root_hashes(tmp_path))


def test_only_a_file_below_its_folder_has_one(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "a.md").write_text("text")
    (walked,) = find_sources([tmp_path], TAKES).listed
    (single,) = find_sources([tmp_path / "b" / "a.md"], TAKES).listed
    assert (folder_of(walked), folder_of(single)) == (tmp_path, tmp_path / "b")
    assert folder_of(DocumentSource(id="a.md", path=single.path)) == tmp_path / "b"
    for other in (
        DocumentSource(id="c.md", path=single.path),
        DocumentSource(id="a.md", data="text"),
        DocumentSource(id="a.md", url="https://docs.test/a.md"),
    ):
        assert folder_of(other) is None


def lost(folder: Path, source: str, *pattern: str) -> bool:
    roots = root_hashes(folder)
    return ReadFolder(folder, frozenset(roots), TAKES, pattern).has_lost(source, roots[:1])


def test_a_file_that_is_there_but_not_looked_for_is_not_lost(tmp_path: Path) -> None:
    assert lost(tmp_path, "a.md")
    assert lost(tmp_path, "b/a.md")
    for hidden in (".a.md", ".b/a.md", "a.png"):
        assert lost(tmp_path, hidden)
        (tmp_path / hidden).parent.mkdir(exist_ok=True)
        (tmp_path / hidden).write_text("text")
        assert not lost(tmp_path, hidden)


def test_a_name_in_another_case_is_lost(tmp_path: Path) -> None:
    """Also where the file system would find it by its former name."""
    (tmp_path / "river.md").write_text("text")
    (tmp_path / "River.md").symlink_to(tmp_path / "river.md")
    assert lost(tmp_path, "River.md")
