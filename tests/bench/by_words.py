"""Measures what a search finds by words alone, beside BM25 with an English stemmer.

    python -m tests.bench.by_words
    python -m tests.bench.by_words --collection cf.json.gz --json

No model and no embedding takes part. A collection of texts with judged questions is loaded, and
each question is searched in the mode ``hybrid``: before there are partitions, and after. The
reference is BM25 on titles and texts, with the English stemmer of Snowball and its customary stop
words, a question's repeated words counted. It is measured with k1 1.2 and b 0.75, and with 0.9 and
0.4, and the better one counts. It needs ``pip install snowballstemmer``.
"""

from __future__ import annotations

import argparse
import math
import re
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from pathlib import Path
from statistics import fmean, median
from time import perf_counter
from typing import Any

from pgs_neo4j.database.connection import Database
from pgs_neo4j.engine import PGS
from pgs_neo4j.llm.scripted import ScriptedLLM, contract_reply
from tests.bench import place, program
from tests.bench.graphs import DATA
from tests.bench.judged import TEXTS, Judged, Load, Question, measure_judged
from tests.bench.retrieval import TOP, ndcg

COLLECTIONS = ("cacm", "cisi", "cran")
GRAPH = "words"
PARAMETERS = ((1.2, 0.75), (0.9, 0.4))
"""k1 and b: the customary values, and those of Anserini."""
WORD = re.compile(r"[a-z0-9]+")
_STOP_WORDS = """
a about above after again against all am an and any are as at be because been before being below
between both but by can did do does doing don down during each few for from further had has have
having he her here hers herself him himself his how i if in into is it its itself just me more most
my myself no nor not now of off on once only or other our ours ourselves out over own s same she
should so some such t than that the their theirs them themselves then there these they this those
through to too under until up very was we were what when where which while who whom why will with
you your yours yourself yourselves
"""
STOP_WORDS = frozenset(_STOP_WORDS.split())


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure what the command line asks for, write the figures, and tell the exit code."""
    options = _parser().parse_args(arguments)
    return program.told(lambda: program.run(lambda: measured(options)), table, options.json)


async def measured(options: argparse.Namespace) -> dict[str, Any]:
    """All collections, but for those whose files are absent."""
    paths = [DATA / f"{name}.json.gz" for name in options.graph or COLLECTIONS]
    options.collection = [*paths, *options.collection]
    return await measure_judged((), options, partial(_measure, repeat=options.repeat))


async def _measure(
    name: str, load: Load, options: argparse.Namespace, *, repeat: int
) -> dict[str, Any]:
    async with place.opened(options.uri) as (server, database):
        program.say(f"load {name}")
        graph = await load(database)
        reference = await _read_reference(database)
        silent = ScriptedLLM(contract_reply)
        async with PGS.connect(
            sweep_llm=silent, synthesis_llm=silent, embedder="none", **place.connection(server)
        ) as pgs:
            await pgs.graphs.add(GRAPH, graph.mapping)
            program.say("search before partitions")
            before = await _search(pgs, graph, repeat)
            await pgs.partitions.build(GRAPH)
            program.say("search after partitions")
            after = await _search(pgs, graph, repeat)
    gains = {
        f"{k1} {b}": fmean(_gain(reference.rank(one.text, k1, b), one) for one in graph.questions)
        for k1, b in PARAMETERS
    }
    return {
        "graph": name,
        "questions": len(graph.questions),
        "bm25": gains,
        "ways": {"before partitions": before, "after partitions": after},
    }


async def _search(pgs: PGS, graph: Judged, repeat: int) -> dict[str, float]:
    """Search every question; return the mean nDCG and the median of the fastest times."""
    gains, seconds = [], []
    await pgs.search(graph.questions[0].text, graph=GRAPH)  # plans are made once
    for question in graph.questions:
        times = []
        for _ in range(repeat):
            began = perf_counter()
            found = await pgs.search(question.text, graph=GRAPH, mode="hybrid", top_k=TOP)
            times.append(perf_counter() - began)
        gains.append(_gain([item.id for item in found.items], question))
        seconds.append(min(times))
    return {"ndcg": fmean(gains), "p50_s": median(seconds)}


def _gain(order: Sequence[str], question: Question) -> float:
    return ndcg(order, dict(zip(question.nodes, question.grades, strict=True)), TOP)


@dataclass(slots=True)
class Reference:
    """BM25 with an English stemmer, over texts by element id."""

    texts: Mapping[str, str]
    counts: dict[str, Counter[str]] = field(init=False)
    holders: Counter[str] = field(init=False)
    stems: dict[str, str] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        """Count the stems of all texts."""
        self.counts = {node: Counter(self.split(text)) for node, text in self.texts.items()}
        self.holders = Counter(stem for counts in self.counts.values() for stem in counts)

    def split(self, text: str) -> list[str]:
        """Return the stems of the words of a text."""
        words = [word for word in WORD.findall(text.lower()) if word not in STOP_WORDS]
        stemmer = import_module("snowballstemmer").stemmer("english")
        self.stems |= {word: stemmer.stemWord(word) for word in {*words} - self.stems.keys()}
        return [self.stems[word] for word in words]

    def rank(self, question: str, k1: float, b: float) -> list[str]:
        """Return the best texts for a question."""
        typical = fmean(counts.total() for counts in self.counts.values())
        asked = Counter(self.split(question))
        scores: dict[str, float] = {}
        for node, counts in self.counts.items():
            norm = k1 * (1 - b + b * counts.total() / typical)
            score = sum(
                times * self._rarity(stem) * counts[stem] / (counts[stem] + norm)
                for stem, times in asked.items()
                if stem in counts
            )
            if score:
                scores[node] = score
        return sorted(scores, key=lambda node: (-scores[node], node))[:TOP]

    def _rarity(self, stem: str) -> float:
        held = self.holders[stem]
        return math.log(1 + (len(self.texts) - held + 0.5) / (held + 0.5))


async def _read_reference(database: Database) -> Reference:
    _, rows = await database.call(TEXTS, {}, "read")
    return Reference({row["element_id"]: f"{row['title']}\n{row['text']}" for row in rows})


def table(document: dict[str, Any]) -> str:
    """The figures as tables."""
    return "\n\n".join(map(_table, document["runs"]))


def _table(run: dict[str, Any]) -> str:
    best = max(run["bm25"].values())
    rows: list[Sequence[str]] = [("", f"nDCG@{TOP}", "÷ BM25", "p50 ms")]
    rows += [(f"BM25 {name}", f"{gain:.3f}", "", "") for name, gain in run["bm25"].items()]
    rows += [
        (way, f"{one['ndcg']:.3f}", f"{one['ndcg'] / best:.3f}", f"{1000 * one['p50_s']:.1f}")
        for way, one in run["ways"].items()
    ]
    return f"{run['graph']}: {run['questions']} questions\n{program.aligned(rows)}"


def _parser() -> argparse.ArgumentParser:
    parser = program.parser("by_words", __doc__)
    parser.add_argument("--graph", action="append", choices=COLLECTIONS, help="all by default")
    parser.add_argument(
        "--collection", action="append", type=Path, default=[], help="a file like cacm.json.gz"
    )
    parser.add_argument("--repeat", type=int, default=1, help="searches for each question")
    parser.add_argument("--uri", metavar="URI", help=place.HELP)
    return parser


if __name__ == "__main__":
    sys.exit(main())
