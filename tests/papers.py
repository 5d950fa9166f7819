"""The code blocks of README and manual, as a test finds them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGES = (ROOT / "README.md", *sorted((ROOT / "pgs_neo4j" / "manual").glob("*.md")))
UNTRIED = {"needs=key", "needs=install", "needs=extra"}
"""Marks of blocks that no test runs: a model's key, what ``.ci/run`` does, and large extras."""
SCHEMA = "schema"
"""Marks a TOML block that is a schema of an ingestion; others are settings."""

_BLOCK = re.compile(r"^```(\w+)([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Block:
    """One fenced block: its page, language, marks, and code."""

    page: str
    language: str
    marks: frozenset[str]
    code: str

    @property
    def tried(self) -> bool:
        """Whether a test runs it."""
        return not self.marks & UNTRIED


def blocks(page: Path) -> Iterator[Block]:
    """The fenced blocks of a page, in order."""
    for language, marks, code in _BLOCK.findall(page.read_text(encoding="utf-8")):
        yield Block(page.stem, language, frozenset(marks.split()), code)
