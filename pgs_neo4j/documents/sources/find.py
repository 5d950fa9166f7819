"""Finds the sources to ingest, each with an id that stays the same in every ingestion.

If a folder is read completely, this also shows which documents have lost their files. A document
stores only hashes of its folder's path, so that the graph does not reveal the names of folders.
Equal paths on two machines count as the same folder.
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
    """A sequence of sources; for a file in a folder, it stores only the id and the folder."""

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
    """A folder with all of its files read that the loader ``takes`` and that are not hidden.

    With a ``pattern``, only matching files are read.
    """

    folder: Path
    roots: frozenset[str]
    takes: Callable[[str], bool]
    pattern: tuple[str, ...] = ()

    def has_lost(self, source: str, roots: Iterable[str]) -> bool:
        """Return whether a source that was not found is gone from this folder.

        ``roots`` are hashes of the source's folder. If the search of the folder leaves out files
        like this source, the path of the source is checked.
        """
        parts = source.split("/")
        if self.roots.isdisjoint(roots) or (self.pattern and not matches(parts, self.pattern)):
            return False
        looked_for = self.takes(parts[-1]) and not any(part.startswith(".") for part in parts)
        return looked_for or not os.path.lexists(self.folder / source)


@dataclass(frozen=True, slots=True)
class Sources:
    """The sources to ingest, in the order of their ids.

    ``skipped`` counts files without a reader, by ending. ``closed`` maps unreadable folders, whose
    names end with a slash, to reasons. ``folders`` are the folders that are read completely.
    """

    listed: Sequence[DocumentSource]
    skipped: Mapping[str, int]
    closed: Mapping[str, str] = field(default_factory=dict)
    folders: Sequence[ReadFolder] = ()

    def have_lost(self, source: str, roots: Sequence[str]) -> bool:
        """Return whether a document's unlisted file is gone from a folder that is read completely.

        ``roots`` are hashes of the folder of this file.
        """
        return any(folder.has_lost(source, roots) for folder in self.folders)


def find_sources(
    paths: Sequence[str | Path | DocumentSource], takes: Callable[[str], bool]
) -> Sources:
    """Return the sources in folders, files, patterns, and URLs.

    The id of a file is its path below its folder, or below the part of a pattern without wildcards.
    Hidden files and folders are left out, and links to folders are not followed. Raises UsageError
    if a path does not exist or cannot be read, and if two sources have the same id.
    """
    found: dict[str, DocumentSource | Path] = {}
    skipped: Counter[str] = Counter()
    closed: dict[str, str] = {}
    for path in paths:
        for source, chosen in _find_named(path, closed):
            former = _source_at(source.id, found[source.id]) if source.id in found else None
            if not chosen and source.path and not takes(source.path.name):
                skipped[source.path.suffix.lower() or "without ending"] += 1
            elif former and not _is_same(former, source):
                raise UsageError(
                    f"{_describe_place(former)} and {_describe_place(source)} would both have the "
                    f"id {source.id}; ingest a folder that contains both"
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


def _find_named(
    path: str | Path | DocumentSource, closed: dict[str, str]
) -> Iterator[tuple[DocumentSource, bool]]:
    """Yield the sources of a path, each with a flag that says if the path names it directly.

    Unreadable folders are added to ``closed``.
    """
    if isinstance(path, DocumentSource):
        yield path, True
    elif isinstance(path, str) and is_url(path):
        try:
            yield DocumentSource(id=url_id(path), url=path), True
        except InputFileError as error:
            raise UsageError(f"a URL to ingest cannot be used: {error}") from None
    elif _is_folder(path):
        yield from ((source, False) for source in _walk_folder(Path(path), closed))
    elif Path(path).exists() or Path(path).is_symlink():
        file = Path(path)
        yield DocumentSource(id=file.name, path=file, root=file.parent), True
    elif _WILD.search(str(path)):
        yield from ((source, False) for source in _find_matching(str(path), closed))
    else:
        raise UsageError(f"there is no {path}; name a file, folder, pattern, or URL to ingest")


def _find_matching(pattern: str, closed: dict[str, str]) -> Iterator[DocumentSource]:
    """Yield the files that match a pattern, in which ``**`` stands for any folders."""
    folder, rest = _divide_pattern(pattern)
    sources = [one for one in _walk_folder(folder, closed) if matches(one.id.split("/"), rest)]
    if not sources:
        raise UsageError(f"no file matches {pattern}")
    yield from sources


def _divide_pattern(pattern: str) -> tuple[Path, tuple[str, ...]]:
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
    """Return the folder that a path names or with which its pattern begins, or None."""
    if isinstance(path, DocumentSource):
        return None
    if _is_folder(path):
        return ReadFolder(Path(path), frozenset(root_hashes(Path(path))), takes)
    if is_url(str(path)) or os.path.lexists(path):
        return None
    folder, pattern = _divide_pattern(str(path))
    return ReadFolder(folder, frozenset(root_hashes(folder)), takes, pattern)


def root_hashes(folder: Path) -> tuple[str, ...]:
    """Return hashes of a folder's absolute path, both as named and with its links resolved.

    At least one hash stays the same if the working directory or a link changes.
    """
    paths = {os.path.normpath(folder.absolute()), str(folder.resolve())}
    return tuple(sorted({digest(os.path.normcase(path)) for path in paths}))


def folder_of(source: DocumentSource) -> Path | None:
    """Return the folder to which a file's id is relative, None for other sources."""
    if source.path is None:
        return None
    folder = source.root or source.path.parent
    return folder if folder / source.id == source.path else None


def _walk_folder(folder: Path, closed: dict[str, str]) -> Iterator[DocumentSource]:
    """Yield the files of a folder; unreadable folders below it are added to ``closed``."""

    def note(error: OSError) -> None:
        place = Path(error.filename)
        if isinstance(error, FileNotFoundError):
            return  # The folder was just deleted.
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
    """Return ``place`` if it is a source, otherwise the file with the id below the folder."""
    if isinstance(place, DocumentSource):
        return place
    return DocumentSource(id=id_, path=place / id_, root=place)


def _is_same(one: DocumentSource, other: DocumentSource) -> bool:
    if one.path and other.path:
        return one.path.samefile(other.path)
    return one == other


def _describe_place(source: DocumentSource) -> str:
    return str(source.path) if source.path else f"the URL {source.id}" if source.url else "a text"
