"""Finds the sources to ingest, each with an id that stays the same in every ingestion.

Folders that are read in full also show which documents have lost their files. A document remembers
its folder by hashes of the path, since a graph need not reveal what its user's folders are called.
Equal paths of two machines are the same folder.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import overload

from pgs_neo4j.documents.sources.addresses import is_url, url_id
from pgs_neo4j.errors import InputFileError, UsageError
from pgs_neo4j.graph.hashes import digest
from pgs_neo4j.model.documents import DocumentSource

_WILD = re.compile(r"[*?\[]")


class FoundSources(Sequence[DocumentSource]):
    """Sources by place. Of a file in a folder, only the id and the folder are in memory."""

    __slots__ = ("_ids", "_places")

    def __init__(self, found: Mapping[str, DocumentSource | Path]) -> None:
        self._ids = (*sorted(found),)
        self._places = tuple(found[id_] for id_ in self._ids)

    def __len__(self) -> int:
        return len(self._ids)

    @overload
    def __getitem__(self, place: int) -> DocumentSource: ...

    @overload
    def __getitem__(self, place: slice) -> Sequence[DocumentSource]: ...

    def __getitem__(self, place: int | slice) -> DocumentSource | Sequence[DocumentSource]:
        if isinstance(place, slice):
            return [*map(_source_at, self._ids[place], self._places[place])]
        return _source_at(self._ids[place], self._places[place])


@dataclass(frozen=True, slots=True)
class ReadFolder:
    """A folder that is read in full: all files that the loader ``takes``, except hidden ones.

    With a ``pattern``, only files that match it are read.
    """

    folder: Path
    roots: frozenset[str]
    takes: Callable[[str], bool]
    pattern: tuple[str, ...] = ()

    def has_lost(self, source: str, roots: Iterable[str]) -> bool:
        """Whether a source of a folder with such hashes would have been found if it were there."""
        parts = source.split("/")
        if self.roots.isdisjoint(roots) or (self.pattern and not matches(parts, self.pattern)):
            return False
        looked_for = self.takes(parts[-1]) and not any(part.startswith(".") for part in parts)
        return looked_for or not os.path.lexists(self.folder / source)


@dataclass(frozen=True, slots=True)
class Sources:
    """Sources in the order of their ids, and how many files no reader takes, by ending.

    ``closed`` has folders that cannot be read, with reasons; their names end with a slash.
    ``folders`` are those that are read in full.
    """

    listed: Sequence[DocumentSource]
    skipped: Mapping[str, int]
    closed: Mapping[str, str] = field(default_factory=dict)
    folders: Sequence[ReadFolder] = ()

    def have_lost(self, source: str, roots: Sequence[str]) -> bool:
        """Whether a document's file, which is not among these, is gone from a folder read in full.

        ``roots`` are hashes of its folder.
        """
        return any(folder.has_lost(source, roots) for folder in self.folders)


def find_sources(
    paths: Sequence[str | Path | DocumentSource], takes: Callable[[str], bool]
) -> Sources:
    """Return the sources that folders, files, patterns, and URLs name.

    The id of a file is its path below its folder, or below the part of a pattern without wildcards.
    Hidden files and folders are left out; links to folders are not followed. Raises UsageError for
    a path that is not there or cannot be read, and for two sources of one id.
    """
    found: dict[str, DocumentSource | Path] = {}
    skipped: Counter[str] = Counter()
    closed: dict[str, str] = {}
    for path in paths:
        for source, chosen in _named(path, closed):
            former = _source_at(source.id, found[source.id]) if source.id in found else None
            if not chosen and source.path and not takes(source.path.name):
                skipped[source.path.suffix.lower() or "without ending"] += 1
            elif former and not _is_same(former, source):
                raise UsageError(
                    f"{_place(former)} and {_place(source)} would both be {source.id}; ingest a "
                    "folder that contains both"
                )
            else:
                found[source.id] = source if chosen or source.root is None else source.root
    folders = [folder for path in paths if (folder := _read_folder(path, takes))]
    return Sources(
        FoundSources(found),
        dict(sorted(skipped.items())),
        dict(sorted(closed.items())),
        folders,
    )


def _named(
    path: str | Path | DocumentSource, closed: dict[str, str]
) -> Iterator[tuple[DocumentSource, bool]]:
    """Yield the sources of a path, and whether it names them directly; note closed folders."""
    if isinstance(path, DocumentSource):
        yield path, True
    elif isinstance(path, str) and is_url(path):
        try:
            yield DocumentSource(id=url_id(path), url=path), True
        except InputFileError as error:
            raise UsageError(f"a URL to ingest cannot be used: {error}") from None
    elif _is_folder(path):
        yield from ((source, False) for source in _walk(Path(path), closed))
    elif Path(path).exists() or Path(path).is_symlink():
        file = Path(path)
        yield DocumentSource(id=file.name, path=file, root=file.parent), True
    elif _WILD.search(str(path)):
        yield from ((source, False) for source in _matching(str(path), closed))
    else:
        raise UsageError(f"there is no {path}; name a file, folder, pattern, or URL to ingest")


def _matching(pattern: str, closed: dict[str, str]) -> Iterator[DocumentSource]:
    """Yield the files that match a pattern, in which ``**`` stands for any folders."""
    folder, rest = _divided(pattern)
    sources = [one for one in _walk(folder, closed) if matches(one.id.split("/"), rest)]
    if not sources:
        raise UsageError(f"no file matches {pattern}")
    yield from sources


def _divided(pattern: str) -> tuple[Path, tuple[str, ...]]:
    """Return the part of a pattern without wildcards, and the rest."""
    parts = Path(pattern).parts
    fixed = next(place for place, part in enumerate(parts) if _WILD.search(part))
    return Path(*parts[:fixed]), parts[fixed:]


def matches(parts: Sequence[str], pattern: Sequence[str]) -> bool:
    """Return whether a path matches a pattern, both in parts; ``**`` stands for any folders."""
    if not pattern:
        return not parts
    if pattern[0] == "**":
        return any(matches(parts[place:], pattern[1:]) for place in range(len(parts) + 1))
    return bool(parts) and fnmatchcase(parts[0], pattern[0]) and matches(parts[1:], pattern[1:])


def _is_folder(path: str | Path | DocumentSource) -> bool:
    if isinstance(path, DocumentSource) or is_url(str(path)):
        return False
    return Path(path).is_dir()


def _read_folder(
    path: str | Path | DocumentSource, takes: Callable[[str], bool]
) -> ReadFolder | None:
    """Return the folder that a path names, or that its pattern is of; None without one."""
    if isinstance(path, DocumentSource):
        return None
    if _is_folder(path):
        return ReadFolder(Path(path), frozenset(root_hashes(Path(path))), takes)
    if is_url(str(path)) or os.path.lexists(path):
        return None
    folder, pattern = _divided(str(path))
    return ReadFolder(folder, frozenset(root_hashes(folder)), takes, pattern)


def root_hashes(folder: Path) -> tuple[str, ...]:
    """Return hashes of a folder's path, as it is named and as its links lead to it.

    One of them stays the same from any working directory, and when a link changes.
    """
    paths = {os.path.normpath(folder.absolute()), str(folder.resolve())}
    return tuple(sorted({digest(os.path.normcase(path)) for path in paths}))


def folder_of(source: DocumentSource) -> Path | None:
    """Return the folder that the id of a file is relative to; None for other sources."""
    if source.path is None:
        return None
    folder = source.root or source.path.parent
    return folder if folder / source.id == source.path else None


def _walk(folder: Path, closed: dict[str, str]) -> Iterator[DocumentSource]:
    """Yield the files of a folder. What cannot be read below it is added to ``closed``."""

    def note(error: OSError) -> None:
        place = Path(error.filename)
        if isinstance(error, FileNotFoundError):
            return  # it is gone by now
        if place == folder:
            raise UsageError(f"the folder {place} cannot be read ({error.strerror})") from None
        closed[place.relative_to(folder).as_posix() + "/"] = f"it cannot be read: {error.strerror}"

    for place, names, files in os.walk(folder, onerror=note):
        names[:] = sorted(name for name in names if not name.startswith("."))
        for name in sorted(files):
            if not name.startswith("."):
                file = Path(place, name)
                id_ = file.relative_to(folder).as_posix()
                yield DocumentSource(id=id_, path=file, root=folder)


def _source_at(id_: str, place: DocumentSource | Path) -> DocumentSource:
    """Return a source, or the file of an id below a folder."""
    if isinstance(place, DocumentSource):
        return place
    return DocumentSource(id=id_, path=place / id_, root=place)


def _is_same(one: DocumentSource, other: DocumentSource) -> bool:
    if one.path and other.path:
        return one.path.samefile(other.path)
    return one == other


def _place(source: DocumentSource) -> str:
    return str(source.path) if source.path else f"the URL {source.id}" if source.url else "a text"
