"""Finds the code blocks of the README and the manual."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGES = (ROOT / "README.md", *sorted((ROOT / "pgs_neo4j" / "manual").glob("*.md")))
UNTRIED = {"needs=key", "needs=install", "needs=extra"}
"""Marks of blocks that no test runs: they need a model's key, an installation, or a large extra."""
SCHEMA = "schema"
"""Marks a TOML block as an ingestion schema; other TOML blocks are settings."""

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
        """Whether a test runs the block."""
        return not self.marks & UNTRIED


def blocks(page: Path) -> Iterator[Block]:
    """Return the fenced blocks of a page, in order."""
    for language, marks, code in _BLOCK.findall(page.read_text(encoding="utf-8")):
        yield Block(page.stem, language, frozenset(marks.split()), code)
