"""Measures whether the chunks of a document stay together, and what routing reads of pages.

    python -m tests.bench.pages --html /usr/share/doc/nodejs --html DOCS/reference
    python -m tests.bench.pages --pages 200 --json

Pages that link to each other are ingested without a model: folders of HTML files, or the docstrings
of the standard library. A table tells how many partitions a document lies in, and what share of its
chunks is in its main one. A question is a sentence that links to several pages, or a page that
links to many; it needs the pages that are linked. Another table tells what share of their text is
in the partitions that are read: those that routing chooses, the first 3, and the first 15. Beside
it stands what BM25 over whole pages finds with as many tokens.
"""

from __future__ import annotations

import argparse
import math
import re
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from pgs_neo4j.database.connection import Database
from pgs_neo4j.engine import PGS
from pgs_neo4j.errors import UsageError
from tests.bench import place, program
from tests.bench.page_corpus import Asked, make_questions, read_pages, write_pages

GRAPH = "pages"
FEW, MOST = 3, 15
K1, B = 1.2, 0.75
WORD = re.compile(r"[a-z0-9]+")
CHUNKS = """
MATCH (d:Document {graph: $graph})-[:PART_OF]->(c:Chunk)
MATCH (c)-[:PGS_IN]->(p:PgsPartition {level: 0})-[:PGS_PART_OF]->(:PgsGeneration {id: $generation})
RETURN d.id AS page, p.id AS partition, c.text AS text ORDER BY page, c.index
"""


@dataclass(frozen=True, slots=True)
class Placed:
    """Tokens of each page by partition, and its text."""

    tokens: Mapping[str, Mapping[int, int]]
    chunks: Mapping[str, Mapping[int, int]]
    texts: Mapping[str, str]

    def share(self, page: str, partitions: Sequence[int]) -> float:
        """Return the share of a page's text that some partitions hold."""
        tokens = self.tokens[page]
        return sum(tokens.get(one, 0) for one in partitions) / sum(tokens.values())


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure what the command line asks for, write the figures, and tell the exit code."""
    options = _parser().parse_args(arguments)
    return program.told(lambda: program.run(lambda: measured(options)), table, options.json)


async def measured(options: argparse.Namespace) -> dict[str, Any]:
    """Ingest, partition, and route."""
    pages = read_pages(options.html, options.pages)
    questions = make_questions(pages, options.questions)
    if not questions:
        raise UsageError("no page links to two others; name a folder with --html, or more pages")
    async with place.opened(options.uri) as (server, database):
        access = place.connection(server)
        knobs: dict[str, Any] = dict(options.knob)
        async with PGS.connect_without_models(embedder="none", **access, **knobs) as pgs:
            with tempfile.TemporaryDirectory(prefix="pgs-pages-") as folder:
                program.say(f"ingest {len(pages)} pages")
                write_pages(pages, Path(folder) / "pages")
                await pgs.ingest(Path(folder) / "pages", GRAPH)
            return await measure(pgs, database, questions)


async def measure(pgs: PGS, database: Database, questions: Sequence[Asked]) -> dict[str, Any]:
    """Partition the ingested pages, and route the questions."""
    program.say("partition")
    partitioning = await pgs.partitions.build(GRAPH, force=True)
    values = {"graph": GRAPH, "generation": partitioning.generation.id}
    _, rows = await database.call(CHUNKS, values, "read")
    placed = _place(rows)
    tokens = {part.id: part.tokens for part in partitioning.partitions}
    several = [own for own in placed.chunks.values() if sum(own.values()) > 1]
    program.say(f"route {len(questions)} questions")
    return {
        "pages": len(placed.texts),
        "chunks": len(rows),
        "partitions": len(tokens),
        "modularity": partitioning.generation.modularity,
        "raw_modularity": partitioning.generation.raw_modularity,
        "partitions_of_page": fmean(len(own) for own in several),
        "in_main": fmean(max(own.values()) / sum(own.values()) for own in several),
        "chunks_in_main": sum(max(own.values()) for own in several)
        / sum(sum(own.values()) for own in several),
        "reads": await _read(pgs, placed, tokens, questions),
    }


def _place(rows: Sequence[Mapping[str, Any]]) -> Placed:
    tokens: dict[str, Counter[int]] = defaultdict(Counter)
    chunks: dict[str, Counter[int]] = defaultdict(Counter)
    texts: dict[str, list[str]] = defaultdict(list)
    for row in rows:
        tokens[row["page"]][row["partition"]] += max(len(row["text"]) // 4, 1)
        chunks[row["page"]][row["partition"]] += 1
        texts[row["page"]].append(row["text"])
    return Placed(tokens, chunks, {page: "\n".join(own) for page, own in texts.items()})


async def _read(
    pgs: PGS, placed: Placed, tokens: Mapping[int, int], questions: Sequence[Asked]
) -> dict[str, dict[str, dict[str, float]]]:
    """Return the means over all questions, and over those that ask for a summary."""
    index = PageIndex(placed.texts)
    sizes = {page: sum(own.values()) for page, own in placed.tokens.items()}
    found: dict[str, list[tuple[bool, dict[str, float]]]] = defaultdict(list)
    for question in questions:
        pages = [page for page in question.pages if page in placed.tokens]
        if not pages:
            continue
        routed = await pgs.route(question.text, graph=GRAPH)
        ranked = await pgs.route(question.text, graph=GRAPH, min_sweep_partitions=MOST)
        best = [route.partition for route in ranked.routes]
        ways = {
            "routed": [route.partition for route in routed.routes],
            f"first {FEW}": best[:FEW],
            f"first {MOST}": best[:MOST],
        }
        order = index.rank(question.text)
        for way, partitions in ways.items():
            budget = sum(tokens[one] for one in partitions)
            shares = [placed.share(page, partitions) for page in pages]
            found[way].append(
                (
                    question.summary,
                    {
                        "touched": fmean(share > 0 for share in shares),
                        "text": fmean(shares),
                        "bm25": _within(order, sizes, budget, pages),
                        "partitions": len(partitions),
                        "tokens": budget,
                    },
                )
            )
    return {
        way: {"all": _mean(rows), "summary": _mean(rows, summary=True)}
        for way, rows in found.items()
    }


def _mean(
    rows: Sequence[tuple[bool, dict[str, float]]], *, summary: bool = False
) -> dict[str, float]:
    kept = [row for of_summary, row in rows if of_summary or not summary]
    names = kept[0] if kept else {}
    return {name: fmean(row[name] for row in kept) for name in names} | {"questions": len(kept)}


def _within(
    order: Sequence[str], sizes: Mapping[str, int], budget: float, pages: Sequence[str]
) -> float:
    """Return the share of the text of ``pages`` in the best pages of a number of tokens."""
    shares = dict.fromkeys(pages, 0.0)
    for page in order:
        taken = min(budget / sizes[page], 1.0)
        if page in shares:
            shares[page] = taken
        budget -= sizes[page]
        if budget <= 0:
            break
    return fmean(shares.values())


class PageIndex:
    """BM25 over whole pages, with plain words."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._counts = {page: Counter(WORD.findall(text.lower())) for page, text in texts.items()}
        self._holders = Counter(word for counts in self._counts.values() for word in counts)
        self._typical = fmean(counts.total() for counts in self._counts.values())

    def rank(self, question: str) -> list[str]:
        """Return the pages that hold a word of the question, best first."""
        asked = Counter(WORD.findall(question.lower()))
        scores: dict[str, float] = {}
        for page, counts in self._counts.items():
            norm = K1 * (1 - B + B * counts.total() / self._typical)
            score = sum(
                times * self._rarity(word) * counts[word] / (counts[word] + norm)
                for word, times in asked.items()
                if word in counts
            )
            if score:
                scores[page] = score
        return sorted(scores, key=lambda page: (-scores[page], page))

    def _rarity(self, word: str) -> float:
        held = self._holders[word]
        return math.log(1 + (len(self._counts) - held + 0.5) / (held + 0.5))


def table(document: dict[str, Any]) -> str:
    """The figures as tables."""
    head = (
        f"{document['pages']} pages of {document['chunks']} chunks in {document['partitions']} "
        f"partitions, modularity {document['modularity']:.3f} "
        f"(before the limits {document['raw_modularity']:.3f})\n"
        f"a page lies in {document['partitions_of_page']:.2f} partitions; "
        f"{document['in_main']:.1%} of its chunks are in its main one "
        f"({document['chunks_in_main']:.1%} of all chunks)\n"
    )
    rows: list[Sequence[str]] = [
        ("", "questions", "pages touched", "text read", "BM25", "÷", "partitions", "tokens")
    ]
    for way, kinds in document["reads"].items():
        for kind, found in kinds.items():
            if not found["questions"]:
                continue
            rows.append(
                (
                    f"{way}, {kind}",
                    f"{found['questions']:.0f}",
                    f"{found['touched']:.1%}",
                    f"{found['text']:.1%}",
                    f"{found['bm25']:.1%}",
                    f"{found['text'] / max(found['bm25'], 1e-9):.2f}",
                    f"{found['partitions']:.1f}",
                    f"{found['tokens']:,.0f}",
                )
            )
    return head + program.aligned(rows)


def _parser() -> argparse.ArgumentParser:
    parser = program.parser("pages", __doc__)
    parser.add_argument(
        "--html", action="append", type=Path, default=[], help="a folder of HTML pages"
    )
    parser.add_argument("--pages", type=program.number(2), default=450, help="at most as many")
    parser.add_argument(
        "--questions", type=program.number(1), default=150, help="at most as many of each kind"
    )
    program.add_knobs(parser)
    parser.add_argument("--uri", metavar="URI", help=place.HELP)
    return parser


if __name__ == "__main__":
    sys.exit(main())
