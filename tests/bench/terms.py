"""Measures what extraction without a model finds.

    python -m tests.bench.terms
    python -m tests.bench.terms --most 40 --misses

Questions: tags that stand in their question of Neo4j's Stack Overflow example, and are among its
terms. Links: words that are links in READMEs of installed packages, and are among the terms of the
same text without the marks of links. Both per chunk of the default sizes. Speed is of one core, for
extraction alone and with grounding, and ÷ that of splitting the texts into sentences.
"""

from __future__ import annotations

import argparse
import html
import importlib.metadata
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from pgs_neo4j.model.documents import Chunk, DocumentText
from pgs_neo4j.text.chunking import chunk_document
from pgs_neo4j.text.extraction.ground import ground
from pgs_neo4j.text.local_extraction import extract_terms
from pgs_neo4j.text.local_extraction.tokens import key_of
from pgs_neo4j.text.sentences import split_sentences
from tests.stackoverflow import ARCHIVE, read_archive

DATA = Path(__file__).resolve().parents[2].parent / "shared" / "data"
LINK = re.compile(r"(?<!!)\[([^\[\]\n]{2,60})\]\([^()\s]+\)|`([^`<>\n]{2,60}?)\s*<[^<>\s]+>`__?")
DEFINITION = re.compile(r"^\[[^\]]+\]:.*$|^\.\. .*$", re.MULTILINE)
NAME = re.compile(r"[A-Za-z][\w .+-]*")
WORDS, CHARACTERS = 4, 60_000  # of a link, and of a text
Case = tuple[str, set[str]]


def questions(archive: Path) -> Iterator[Case]:
    """Yield each question with its tags that stand in it."""
    nodes, relationships = read_archive(archive)
    tables = {table.label: table.rows for table in nodes}
    names = {row["tag_id"]: row["name"] for row in tables["Tag"]}
    tags: dict[int, list[str]] = {}
    for table in relationships:
        if table.type == "TAGGED":
            for row in table.rows:
                tags.setdefault(row["source"], []).append(names[row["target"]])
    for row in tables["Question"]:
        text = html.unescape(f"{row['title']}\n\n{row['body_markdown']}".replace("\r\n", "\n"))
        lower = text.lower()
        yield text, {tag for tag in tags.get(row["question_id"], ()) if stands(tag, lower)}


def stands(tag: str, text: str) -> bool:
    """Whether a tag stands in a text, with hyphens or blanks between its words."""
    pattern = re.escape(tag).replace(r"\-", r"[-\s]")
    return re.search(rf"(?<!\w){pattern}(?!\w)", text) is not None


def readmes() -> Iterator[Case]:
    """Yield the READMEs of installed packages without links, and what was linked."""
    for package in importlib.metadata.distributions():
        text = package.metadata.json.get("description", "")
        assert isinstance(text, str)
        linked: set[str] = set()

        def unlink(match: re.Match[str], linked: set[str] = linked) -> str:
            words = re.sub(r"[`*]", "", match[1] or match[2]).strip()
            if NAME.fullmatch(words) and len(words.split()) <= WORDS:
                linked.add(" ".join(words.split()))
            return words

        plain = LINK.sub(unlink, DEFINITION.sub("", text))[:CHARACTERS]
        if package.metadata["Name"] != "pgs-neo4j":
            yield plain, {name for name in linked if name in plain}


def loose(name: str) -> str:
    return re.sub(r"[\s_-]+", "-", name.lower())


def measure(cases: list[Case], most: int, *, misses: bool) -> tuple[float, float]:
    """Return recall, and terms per chunk; print what was missed."""
    gold = terms = chunks = 0
    missed: Counter[str] = Counter()
    for text, names in cases:
        found: set[str] = set()
        for chunk in chunk_document(DocumentText(text=text)):
            entities = extract_terms(chunk, most).entities
            chunks += 1
            terms += len(entities)
            for one in entities:
                found.update((loose(one.name), key_of(loose(one.name))))
        gold += len(names)
        for name in names:
            if loose(name) not in found and key_of(loose(name)) not in found:
                missed[name] += 1
    if misses:
        sys.stderr.write(f"{missed.most_common(60)}\n")
    return 1 - missed.total() / gold, terms / chunks


def speeds(texts: list[str]) -> dict[str, float]:
    """Return millions of characters per second of one core, each the best of three."""
    chunks = [chunk for text in texts for chunk in chunk_document(DocumentText(text=text))]
    size = sum(map(len, texts)) / 1e6

    def speed(work: object) -> float:
        best = float("inf")
        for _ in range(3):
            begin = time.process_time()
            assert callable(work)
            work()
            best = min(best, time.process_time() - begin)
        return size / best

    def extract(chunk: Chunk) -> None:
        ground(extract_terms(chunk), chunk)

    return {
        "sentences": speed(lambda: [list(split_sentences(text)) for text in texts]),
        "terms": speed(lambda: list(map(extract_terms, chunks))),
        "terms, grounded": speed(lambda: list(map(extract, chunks))),
    }


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--most", type=int, default=80, help="terms of a chunk")
    options.add_argument("--misses", action="store_true", help="print what was missed to stderr")
    chosen = options.parse_args()
    asked, linked = list(questions(DATA / ARCHIVE)), list(readmes())
    for name, cases in (("questions", asked), ("links", linked)):
        recall, terms = measure(cases, chosen.most, misses=chosen.misses)
        sys.stdout.write(f"{name}: recall {recall:.3f} at {terms:.1f} terms a chunk\n")
    for name, speed in speeds([text for text, _ in asked[:500]]).items():
        sys.stdout.write(f"{name}: {speed:.2f} million characters per second\n")


if __name__ == "__main__":
    main()
