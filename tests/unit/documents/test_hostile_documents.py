"""Documents that are made to take all memory or time take neither, and end no ingestion.

Their time is not measured here: the process that reads them has a limit of its own.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from pgs_neo4j.documents.read.limits import LEAST_MB, MOST_MB, cpu_seconds, memory_mb
from pgs_neo4j.model.documents import DocumentText
from pgs_neo4j.text import chunking
from pgs_neo4j.text.chunking import ChunkRules, ChunkStrategy, chunk_document, chunks_ending
from tests.hostile_reading import DOCUMENTS, GROUPS

MOST_GROWN_MB = 300
SECONDS = 1200
"""Until a process of a test counts as stuck."""
ROOT = Path(__file__).parents[3]
READ = frozenset(
    (
        *("deep-beside.json", "lists.json", "halves.jsonl", "blank.csv", "marks.csv", "sheet.csv"),
        *("marks.txt", "line.txt", "words.txt", "headings.md", "quotes.md", "brackets.md"),
        *("fences.md", "utf-16.txt", "remarks.pdf", "choices.html", "menus.html", "labels.html"),
        "paths.html",
        *("record.jsonl", "wide.json", "string.json", "escapes.json", "cells.docx"),
    )
)
"""Documents of which something is read, however odd they are."""

REASONS = {
    "attributes.html": "one of its tags has more than 1,000 attributes",
    "many-attributes.html": "one of its tags has more than 1,000 attributes",
    "attributes.docx": "one of its elements has more than 1,000 attributes",
    "deep.html": "its tags are nested more deeply",
    "tables.html": "its tags are nested more deeply",
    "unmatched.html": "its tags are nested more deeply",
    "broken-out.html": "its tags are nested more deeply",
    "broken-font.html": "its tags are nested more deeply",
    "foreign.html": "its tags are nested more deeply",
    "ended.html": "its tags are nested more deeply",
    "row.docx": "one of its paragraphs or rows has more than 100,000 elements",
    "short.docx": "its text has more than 250,000 elements",
    "empty.docx": "it has no text",
    "record.jsonl": "it is longer than 40 million characters; split it",
}
"""What is said of documents that are refused before a parser builds them, or of a part of them."""


@pytest.mark.parametrize(
    "group",
    [
        pytest.param(group, marks=[pytest.mark.nightly] if group == "large" else [])
        for group in GROUPS
    ],
)
def test_no_document_takes_much_memory_or_keeps_the_next_from_being_read(
    group: str, tmp_path: Path
) -> None:
    paths = [tmp_path / name for name in GROUPS[group]]
    for path in paths:
        path.write_bytes(DOCUMENTS[path.name]())
    idle, *found = read_apart(paths)
    assert [one["name"] for one in found] == [*GROUPS[group]]
    for one in found:
        assert one["next"] == 1, one
        # A million objects without any value are read, and have no document.
        assert one["documents"] or one["said"] or one["name"] == "objects.json", one
        assert one["own"] - idle["own"] <= MOST_GROWN_MB, one
        assert one["parser"] - idle["parser"] <= MOST_GROWN_MB, one
        assert REASONS.get(one["name"], "") in " ".join(one["said"]), one
        if one["name"] in READ:
            assert one["documents"] == 1, one
            assert one["chunks"], one


def read_apart(paths: list[Path]) -> list[dict[str, Any]]:
    """Read documents in a process of their own, since the memory of this one tells nothing."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.hostile_reading", *map(str, paths)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [*map(json.loads, done.stdout.splitlines())]


def test_there_are_at_least_sixty_hostile_documents() -> None:
    assert len(DOCUMENTS) >= 60


@pytest.mark.parametrize("kind", ["text", "records", "html", "pdf", "docx"])
def test_limits_follow_the_size_of_a_file(kind: str) -> None:
    assert memory_mb(kind, 1000) == LEAST_MB <= MOST_GROWN_MB
    assert cpu_seconds(kind, 1000) <= 15
    assert LEAST_MB < memory_mb(kind, 10_000_000) <= memory_mb(kind, 10**12) == MOST_MB


def test_a_text_of_more_sentences_than_its_size_can_have_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(chunking, "MOST_SENTENCES", 100)
    short, plain = (
        DocumentText(text="A.\n\n" * 101),
        DocumentText(text="It is so and stays. " * 200),
    )
    strategies: tuple[ChunkStrategy, ...] = ("content", "token", "sentence")
    for strategy in strategies:
        with pytest.raises(ValueError, match="more than 100 sentences of less than 20 characters"):
            list(chunk_document(short, ChunkRules(strategy=strategy)))
        made = chunk_document(plain, ChunkRules(strategy=strategy))
        assert "".join(one.text for one in made) == plain.text
    with pytest.raises(ValueError, match="split it"):
        list(chunks_ending(short, [len(short.text)]))
