"""The descriptions of installed packages become documents, each package once."""

from __future__ import annotations

from email.message import Message
from importlib.metadata import Distribution, PathDistribution
from pathlib import Path
from typing import Any

from pgs_neo4j.engine import check_question
from pgs_neo4j.engine.demo.packages import PACKAGE_QUESTIONS, SHORTEST, read_packages

TEXT = "This package reads files of many forms and writes none.\n"


def installed(folder: Path, name: str, text: str, media_type: str = "") -> Distribution:
    """A package as it lies in a folder of packages."""
    place = folder / f"{name}-1.0.dist-info"
    place.mkdir(parents=True)
    head = f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n"
    if media_type:
        head += f"Description-Content-Type: {media_type}\n"
    (place / "METADATA").write_text(f"{head}\n{text}", "utf-8")
    return PathDistribution(place)


def test_descriptions_are_documents_of_their_form_by_name(tmp_path: Path) -> None:
    found = read_packages(
        [
            installed(tmp_path, "Zoo_Keeper", TEXT, "text/x-rst"),
            installed(tmp_path, "ant", f"\n{TEXT}\n\n", "text/markdown; charset=UTF-8"),
            installed(tmp_path, "bee", TEXT),
            installed(tmp_path, "cow", TEXT, "text/else"),
        ]
    )
    ids = ["ant.md", "bee.txt", "cow.txt", "zoo-keeper.rst"]
    assert [document.id for document in found] == ids
    assert {document.data for document in found} == {TEXT}


def test_what_says_nothing_is_left_out_and_the_first_of_two_counts(tmp_path: Path) -> None:
    class Broken(Distribution):
        metadata: Any = Message()

        def read_text(self, filename: str) -> str | None:
            return None

        def locate_file(self, path: Any) -> Path:
            raise NotImplementedError

    found = read_packages(
        [
            Broken(),
            installed(tmp_path, "empty", ""),
            installed(tmp_path, "unknown", "UNKNOWN"),
            installed(tmp_path / "first", "a.b", "x" * SHORTEST),
            installed(tmp_path / "second", "A-B", TEXT),
        ]
    )
    assert [(document.id, document.data) for document in found] == [("a-b.txt", "x" * 40 + "\n")]


def test_the_packages_of_this_machine_can_be_read() -> None:
    names = {document.id.rpartition(".")[0] for document in read_packages()}
    assert {"pytest", "neo4j"} <= names
    for question in PACKAGE_QUESTIONS:
        check_question(question)
