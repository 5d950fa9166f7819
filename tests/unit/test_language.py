"""The language of the tree: American spelling, no banned phrase, one word per thing."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from pgs_neo4j.manual import read_page

ROOT = Path(__file__).resolve().parents[2]
SUFFIXES = {".py", ".md", ".cypher", ".toml", ".yml", ".yaml", ".example", ".service", ".timer"}
FOLDERS = ("pgs_neo4j", "cypher", "tests", "docker", ".github")
BRITISH = re.compile(
    r"(?i)neighbour|behaviour|colour|licence|honour|favour|labell|judgement|centre|whilst|grey"
    r"|\b(?:un)?(?:organ|recogn|normal|summar|serial|initial|optim|minim|maxim|standard|util|final"
    r"|synthes|emphas|prior|general|special|character|familiar|visual)is(?:e[ds]?|ing|ation)\b"
    r"|\banalys(?:e[ds]?|ing)\b|\btowards\b|\bcatalogue|\bdialogue|\btravell|\bmodell|\bcancelling\b(?!\(\))"
)
BANNED = re.compile(
    r"(?i)\bof ours\b|\banew\b|\bmeanwhile\b|\bsomebody\b|\bgoes on\b|\bgo on\b|\bgoing on\b"
    r"|(?-i:\bis none\b)|(?-i:, too\b)|\bwhoever\b"
)
TWO_WORDS = {
    "neighbour": "neighbor",
    "kept repl(?:y|ies)": "stored reply",
    "sub-?graph": "partition",
    "mega-?node": "node",
    "vertex|vertices": "node",
}
"""Words that stand for something the glossary names, each with its word."""
DATA = {
    "pgs_neo4j/pgs/checking/check.py": "prompt text: cached replies are found by their prompts",
    "pgs_neo4j/pgs/sweeping/report.py": "prompt text: cached replies are found by their prompts",
    "tests/unit/test_language.py": "the patterns themselves",
    "tests/unit/text/test_words.py": "British endings that the stemmer knows",
    "pgs_neo4j/text/words.py": "words that users' texts hold, in any spelling",
    "pgs_neo4j/text/extraction/names.py": "words that users' texts hold, in any spelling",
    "pgs_neo4j/text/local_extraction/tokens.py": "words that users' texts hold",
    "pgs_neo4j/text/property_names.py": "words that users' property names hold, in any spelling",
    "pgs_neo4j/text/gist.py": "words that users' texts hold, in any spelling",
    "tests/unit/tools/test_relock.py": "a license as its owner spells it",
}
"""Files that hold such words as data, with the reason."""


@cache
def texts() -> dict[str, str]:
    """Every text of ours that people read, by path."""
    files = [*ROOT.glob("*.md"), ROOT / "pyproject.toml"]
    for folder in FOLDERS:
        files += [path for path in (ROOT / folder).rglob("*") if path.suffix in SUFFIXES]
    return {
        path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
        for path in files
        if path.relative_to(ROOT).as_posix() not in DATA
    }


def uses(pattern: re.Pattern[str]) -> list[str]:
    """Each line that a pattern occurs in, as ``path:line: words``."""
    return [
        f"{path}:{number}: {match[0]}"
        for path, text in texts().items()
        for number, line in enumerate(text.splitlines(), 1)
        if (match := pattern.search(line))
    ]


def test_the_spelling_is_american():
    assert uses(BRITISH) == []


def test_no_phrase_is_used_that_has_to_be_read_twice():
    assert uses(BANNED) == []


@pytest.mark.parametrize("wrong", TWO_WORDS)
def test_one_word_stands_for_one_thing(wrong):
    assert uses(re.compile(rf"(?i)\b(?:{wrong})s?\b")) == [], TWO_WORDS[wrong]


def terms(text):
    """The words of a table's first column, but for its head."""
    rows = re.findall(r"^\| ([a-z ,]+) \|", text, re.MULTILINE)
    return [word.strip() for row in rows[1:] for word in row.split(",")]


def test_the_glossary_has_each_word_once():
    words = terms(read_page("concepts").split("## Glossary")[1])
    assert len(words) == len(set(words)) > 30
    assert {*terms((ROOT / ".github" / "CONTRIBUTING.md").read_text())} <= {*words}


def test_the_patterns_see_what_they_are_for():
    assert BRITISH.search("the neighbours' behaviour")
    assert BRITISH.search("normalised")
    assert not BRITISH.search("normalized neighbor of the analysis, promised, exercise")
    assert BANNED.search("the run goes on")
    assert BANNED.search("and that, too")
    assert not BANNED.search("row[0] is None, too_many")
