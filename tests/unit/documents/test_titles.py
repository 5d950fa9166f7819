"""Titles that documents give themselves, by the form of their files."""

from __future__ import annotations

import pytest

from pgs_neo4j.documents.read.titles import LONGEST_TITLE, find_title
from pgs_neo4j.documents.sources.loader import FileLoader
from pgs_neo4j.model.documents import DocumentSource, LoadedDocument


@pytest.mark.parametrize(
    ("ending", "text", "title"),
    [
        (".md", "# Rivers of *France*\n\nThe Seine flows.\n", "Rivers of France"),
        (".md", "Rivers\n======\n\nThe Seine flows.\n", "Rivers"),
        (".md", "intro\n\n## Below\n\n# [The `main`](x.md) title ##\n", "The main title"),
        (".md", "```\n# no heading\n```\n\n## Below\n", ""),
        (".md", '---\nlayout: x\ntitle: "On rivers"\n---\n\n# Other\n', "On rivers"),
        (".md", "---\nlayout: x\n---\n\n# Rivers\n", "Rivers"),
        (".md", "#\n\n# \n\nwords\n", ""),
        (".md", "# snake_case_name\n", "snake_case_name"),
        (".html", "# Rivers\n\nThe Seine flows.", "Rivers"),
        (".adoc", "// by Ann\n:toc:\n\n= Rivers of France\nAnn\n\n== Seine\n", "Rivers of France"),
        (".adoc", "== Only a section\n", ""),
        (".rst", ".. _rivers:\n\n######\nRivers\n######\n\nThe Seine.\n", "Rivers"),
        (".rst", "Rivers\n------\n\nThe Seine.\n", "Rivers"),
        (".rst", "The Seine flows.\nIt is long.\n", ""),
        (".org", "#+AUTHOR: Ann\n#+TITLE: Rivers\n* Seine\n", "Rivers"),
        (".tex", "\\documentclass{article}\n\\title{Rivers}\n", "Rivers"),
        (".txt", "# a comment\n", ""),
        (".log", "= x\n", ""),
    ],
)
def test_a_title_is_found(ending: str, text: str, title: str) -> None:
    assert find_title(text, ending) == title


def test_a_long_title_is_cut_and_a_far_one_is_not_looked_for() -> None:
    assert len(find_title(f"= {'x' * 1_000}\n", ".adoc")) == LONGEST_TITLE
    assert find_title("words\n\n" * 10_000 + "# Late\n", ".md") == ""


@pytest.mark.parametrize("ending", [".md", ".adoc", ".rst", ".org", ".tex"])
@pytest.mark.parametrize(
    "piece",
    [
        *("    \n", "..\n", "title: ", " ", "[", "*_`", "#", "= ", "= \n", "---\n"),
        *("---\ntitle: '" + " " * 30_000, "---\ntitle: x" + " " * 9_000 + "y\n---\n", "\\title{"),
        "# " + " " * 9_000 + "x\n",
    ],
)
def test_no_text_makes_the_search_take_long(piece: str, ending: str) -> None:
    # Without bounds, one of these would take longer than the limit of the whole test run.
    title = find_title(piece * (25_000 // len(piece) + 1), ending)
    assert len(title) <= LONGEST_TITLE
    assert "\n" not in title


@pytest.mark.parametrize(
    ("name", "data", "called"),
    [
        ("a.md", "# Rivers\n\nThe Seine flows.\n", "Rivers"),
        ("a.html", "<title>Rivers</title><p>The Seine flows.", "Rivers"),
        ("a.html", "<title>Site</title><h1>Rivers</h1><p>The Seine flows.", "Rivers"),
        ("a.adoc", "= Rivers\n\nThe Seine flows.\n", "Rivers"),
        ("a.rst", "Rivers\n======\n\nThe Seine flows.\n", "Rivers"),
        ("a.log", "2026-01-01 The Seine flows.\n", ""),
        ("a.txt", "Rivers\n\nThe Seine flows.\n", ""),
    ],
)
async def test_a_document_is_called_by_its_title(name: str, data: str, called: str) -> None:
    loader = FileLoader()
    try:
        (one,) = [one async for one in loader.load(DocumentSource(id=name, data=data))]
    finally:
        await loader.close()
    assert isinstance(one, LoadedDocument)
    assert (one.id, one.name) == (name, called)
    assert "The Seine flows." in one.text.text
    assert one.media_type
