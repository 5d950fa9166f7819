"""Names of uploaded files: those that ``pgs ingest`` would give, and no others."""

from __future__ import annotations

import pytest

from pgs_neo4j.errors import InputFileError
from pgs_neo4j.web.uploads import document_name, ending_of


@pytest.mark.parametrize("name", ["a.md", "notes/26/a b.TXT", "Überblick.pdf", "a..b.md", "表.csv"])
def test_a_path_below_a_folder_is_a_name(name: str) -> None:
    assert document_name(name) == name


@pytest.mark.parametrize(
    "name",
    [
        "", ".", "..", "../a.md", "a/../b.md", "/etc/passwd.md", "a//b.md", "a/", ".hidden.md",
        ".git/a.md", "a\\b.md", "a\n.md", "a\0.md", "a\u202e.md", " a.md", "a/ /b.md", "x" * 501,
        "\ud800.md",
    ],
)  # fmt: skip
def test_a_name_that_could_mislead_is_refused_without_being_repeated_raw(name: str) -> None:
    with pytest.raises(InputFileError, match="cannot be the name of a document") as refused:
        document_name(name)
    assert str(refused.value).isprintable()
    assert len(str(refused.value)) < 300


def test_an_ending_is_in_lower_case() -> None:
    assert [ending_of(name) for name in ("a.MD", "b/c.tar.GZ", "Makefile")] == [".md", ".gz", ""]
