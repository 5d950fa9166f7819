"""Which files are ingested, and what is said of those that cannot be."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import pytest

from pgs_neo4j.documents.read.text import read_text
from pgs_neo4j.documents.sources.find import Sources
from pgs_neo4j.documents.sources.find import find_sources as find
from pgs_neo4j.documents.sources.loader import FileLoader
from pgs_neo4j.documents.sources.opening import open_file
from pgs_neo4j.errors import InputFileError, UsageError
from pgs_neo4j.model.documents import DocumentSource, DocumentText, LoadedDocument

LOADER = FileLoader(1000)


def find_sources(paths: list[Path]) -> Sources:
    return find(paths, LOADER.takes)


def one(path: Path) -> DocumentSource:
    return find_sources([path]).listed[0]


async def load(source: DocumentSource) -> LoadedDocument:
    (loaded,) = [one async for one in LOADER.load(source)]
    assert isinstance(loaded, LoadedDocument)
    return loaded


def shut_folders(patch: pytest.MonkeyPatch, name: str, error: OSError | None = None) -> None:
    """Let folders of a name raise an error, as for a user without permission."""
    scan, why = os.scandir, error or PermissionError(13, "Permission denied")

    def scandir(place: str) -> object:
        if str(place).endswith(name):
            raise type(why)(*why.args, str(place))
        return scan(place)

    patch.setattr(os, "scandir", scandir)


def test_a_folder_gives_its_texts_by_path_and_counts_the_others(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    (tmp_path / ".git").mkdir()
    for name in ("b/z.md", "a.TXT", ".hidden.txt", ".git/x.txt", "p.png", "Makefile"):
        (tmp_path / name).write_text("text")
    found = find_sources([tmp_path])
    assert [source.id for source in found.listed] == ["a.TXT", "b/z.md"]
    assert {(one.path, one.root) for one in found.listed[-1:]} == {(tmp_path / "b/z.md", tmp_path)}
    assert found.skipped == {".png": 1, "without ending": 1}
    assert [source.id for source in find_sources([tmp_path / "b" / "z.md"]).listed] == ["z.md"]


def test_a_path_that_is_not_there_and_two_files_of_one_name_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="name a file, folder, pattern, or URL"):
        find_sources([tmp_path / "nothing"])
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "x.md").write_text(name)
    with pytest.raises(UsageError, match=r"would both have the id x\.md"):
        find_sources([tmp_path / "a", tmp_path / "b"])
    assert len(find_sources([tmp_path / "a", tmp_path / "a" / "x.md"]).listed) == 1


@pytest.mark.parametrize(
    ("pattern", "ids"),
    [
        ("**/*.md", ["a.md", "x/b.md", "x/y/c.md"]),
        ("*.md", ["a.md"]),
        ("x/**", ["b.md", "y/c.md", "y/d1.txt"]),
        ("x/*/?1.txt", ["y/d1.txt"]),
        ("*/y/[!x]*.md", ["x/y/c.md"]),
        ("x/y/[cd]*", ["c.md", "d1.txt"]),
    ],
)
def test_a_pattern_gives_what_matches_below_its_fixed_part(
    tmp_path: Path, pattern: str, ids: list[str]
) -> None:
    (tmp_path / "x" / "y").mkdir(parents=True)
    for name in ("a.md", "x/b.md", "x/y/c.md", "x/y/d1.txt", "x/.h.md", "x/y/p.png"):
        (tmp_path / name).write_text("text")
    found = find_sources([tmp_path / pattern])
    assert [source.id for source in found.listed] == ids
    assert all(source.path and source.path.is_file() for source in found.listed)


def test_a_pattern_without_a_match_is_refused_and_a_file_of_that_name_found(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no file matches"):
        find_sources([tmp_path / "*.md"])
    for broken in ("[z-a].md", "nothing/*.md"):
        with pytest.raises(UsageError, match="no file matches"):
            find_sources([tmp_path / broken])
    (tmp_path / "a[1].md").write_text("text")
    assert [source.id for source in find_sources([tmp_path / "a[1].md"]).listed] == ["a[1].md"]


async def test_links_lead_nowhere_else(tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("secret")
    root = tmp_path / "root"
    root.mkdir()
    (root / "loop").symlink_to(root)
    (root / "out.txt").symlink_to(tmp_path / "secret.txt")
    (root / "broken.txt").symlink_to(root / "nowhere")
    found = {source.id: source for source in find_sources([root]).listed}
    assert found.keys() == {"out.txt", "broken.txt"}
    with pytest.raises(InputFileError, match="outside of the folder"):
        await load(found["out.txt"])
    with pytest.raises(InputFileError, match="cannot be read"):
        await load(found["broken.txt"])


@pytest.mark.parametrize("back", ["file", "link"])
async def test_a_link_that_is_replaced_once_it_is_open_leads_nowhere_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, back: str
) -> None:
    root, path = tmp_path / "root", tmp_path / "root" / "a.txt"
    root.mkdir()
    (tmp_path / "secret.txt").write_text("secret")
    (root / "b.txt").write_text("text")
    path.symlink_to(tmp_path / "secret.txt")
    opened = os.open

    def replace_link(place: Any, *given: Any, **more: Any) -> int:
        descriptor = opened(place, *given, **more)
        path.unlink()
        if back == "file":
            path.write_text("text")
        else:
            path.symlink_to(root / "b.txt")
        return descriptor

    monkeypatch.setattr(os, "open", replace_link)
    with pytest.raises(InputFileError, match="it was replaced while it was opened"):
        await load(DocumentSource(id="a.txt", path=path, root=root))
    monkeypatch.undo()
    assert (await load(DocumentSource(id="a.txt", path=path, root=root))).text.text == "text"


async def test_a_pipe_does_not_hang_and_a_large_file_is_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.txt")
    with pytest.raises(InputFileError, match="not a regular file"):
        await load(one(tmp_path / "pipe.txt"))
    (tmp_path / "large.txt").write_text("x" * (1001))
    with pytest.raises(InputFileError, match="larger than"):
        await load(one(tmp_path / "large.txt"))
    (tmp_path / "image.png").write_bytes(b"x")
    with pytest.raises(InputFileError, match=r"no reader takes \.png"):
        await load(one(tmp_path / "image.png"))
    name = os.fsdecode(b"bad\xff.txt")
    (tmp_path / name).write_text("x")
    with pytest.raises(InputFileError, match="not valid UTF-8"):
        await load(one(tmp_path / name))


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"\xef\xbb\xbfa\r\nb\rc", "a\nb\nc"),
        ("a\u2028b\x0bc".encode("utf-16"), "a\nb\nc"),
        ("cafe\u0301\x85A\u030a".encode(), "caf\u00e9\n\u00c5"),
    ],
)
def test_text_has_one_form_whatever_its_encoding(data: bytes, text: str) -> None:
    assert read_text(data) == read_text(text.encode()) == (DocumentText(text=text), "")
    with pytest.raises(InputFileError, match="no text"):
        read_text(b" \n\t")


def test_a_file_that_changes_while_it_is_read_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("before")
    with (
        pytest.raises(InputFileError, match="it changed while it was read"),
        open_file(path, tmp_path) as file,
    ):
        assert file.read() == b"before"
        path.write_text("after that")


@pytest.mark.parametrize(
    "name", ["a\nb.txt", "\u202egpj.txt", "-rf.txt", "a#b.txt", "%00.txt", " .txt"]
)
async def test_a_hostile_name_is_an_id_like_any_other(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("text")
    (source,) = find_sources([tmp_path]).listed
    assert (source.id, (await load(source)).text.text) == (name, "text")
    with pytest.raises(InputFileError, match="more than 500 characters"):
        await load(DocumentSource(id="x" * 500 + ".txt", data="a"))


@pytest.mark.parametrize("name", ["entity:Concept:NOTES.TXT", "ruling:Person:ANN.txt"])
async def test_a_document_never_has_the_id_of_an_entity(name: str) -> None:
    with pytest.raises(InputFileError, match="begins like the id of another node"):
        await load(DocumentSource(id=name, data="NOTES.TXT"))


async def test_a_file_that_may_not_be_read_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = DocumentSource(id="a.txt", path=tmp_path / "gone.txt", root=tmp_path)
    with pytest.raises(InputFileError, match="cannot be read: No such file"):
        await load(gone)
    (tmp_path / "shut.txt").write_text("text")

    def refuse(path: Any, *given: Any, **more: Any) -> int:
        raise PermissionError(errno.EACCES, "Permission denied")

    with monkeypatch.context() as patch:
        patch.setattr(os, "open", refuse)
        with pytest.raises(InputFileError, match="it cannot be read: Permission denied"):
            await load(one(tmp_path / "shut.txt"))


@pytest.mark.parametrize("pattern", [".", "**/*.md"])
def test_a_folder_that_cannot_be_read_is_told_beside_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pattern: str
) -> None:
    shut = tmp_path / "b" / "shut"
    shut.mkdir(parents=True)
    (tmp_path / "a.md").write_text("text")
    shut_folders(monkeypatch, "shut")
    found = find_sources([tmp_path / pattern])
    assert [source.id for source in found.listed] == ["a.md"]
    assert found.closed == {"b/shut/": "it cannot be read: Permission denied"}
    with pytest.raises(UsageError, match=r"the folder .*shut cannot be read \(Permission denied\)"):
        find_sources([shut])
    shut_folders(monkeypatch, "shut", FileNotFoundError(2, "No such file or directory"))
    assert find_sources([tmp_path / pattern]).closed == {}
