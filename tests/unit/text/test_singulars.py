"""A count before a noun goes through ``counted``, so that nobody reads "1 findings"."""

from __future__ import annotations

import re
from pathlib import Path

import pgs_neo4j

ROOT = Path(pgs_neo4j.__file__).parent
NOUNS = (
    "bullet|call|cell|chunk|claim|constraint|document|entitie|finding|flag|node|partition|passe|"
    "place|question|relationship|run|sentence|sweep|text"
)
_COUNT = re.compile(rf"\{{(?!counted\()([^{{}}]+)\}} (?:{NOUNS})s\b")
_PAGE = re.compile(rf"\$\{{(?!counted\()([^{{}}]+)\}} (?:{NOUNS})s\b")
# Prompts are read by models, and what they say decides which stored replies still count.
PROMPTS = (
    "pgs/sweeping",
    "pgs/synthesis/prompt.py",
    "pgs/synthesis/sections.py",
    "llm/scripted.py",
)
# Bounds of more than one, lists that are shown from two entries on, and programming errors.
MANY = (
    r"^[A-Z_]+(?::,)?$|^most\b|^len\((?:others|partitions|named|reasons|sentences)\)|"
    r"^figure\(part\.passes\)|^row\.passes|^place\.partitions\.length|^labels\.size|^node_count"
)
ALWAYS_MANY = re.compile(MANY)


def found(pattern: re.Pattern[str], ending: str) -> list[str]:
    return [
        f"{path.relative_to(ROOT)}: {match[0]}"
        for path in sorted(ROOT.rglob(f"*.{ending}"))
        if not str(path.relative_to(ROOT)).startswith(PROMPTS)
        for match in pattern.finditer(path.read_text(encoding="utf-8"))
        if not ALWAYS_MANY.search(match[1])
    ]


def test_no_text_puts_a_count_before_a_plural() -> None:
    assert found(_COUNT, "py") == []
    assert found(_PAGE, "js") == []
