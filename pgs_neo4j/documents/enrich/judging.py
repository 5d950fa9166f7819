"""Lets an arbiter judge close names, and publishes the resulting changes after each round."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.tasks import together
from pgs_neo4j.documents.enrich.arbiter import Pair, ShownName, close_pairs
from pgs_neo4j.documents.enrich.embed import read_space
from pgs_neo4j.documents.fold.contribution import Named
from pgs_neo4j.documents.fold.resolution import Resolution
from pgs_neo4j.documents.fold.rulings import Judgment, group_judged_names
from pgs_neo4j.documents.fold.tallies import entity_id
from pgs_neo4j.documents.names.index import read_all_present
from pgs_neo4j.documents.names.renewal import read_judgments
from pgs_neo4j.documents.order import Arbiter
from pgs_neo4j.documents.publish.change import compute_change
from pgs_neo4j.documents.publish.publication import Publication, publish
from pgs_neo4j.documents.publish.writer import Writer
from pgs_neo4j.errors import PromptTooLongError
from pgs_neo4j.events import OnEvent, Progressed, StepStarted
from pgs_neo4j.llm.calls.outcome import noting_end
from pgs_neo4j.text.shown import one_line

PAIRS = 10
"""Number of pairs per call."""
LEAST_COSINE = 0.85
"""Minimum cosine of two near entities of a type."""
MOST_READ = 20_000
"""Maximum entities of a graph to compare by their vectors. In a larger graph, no vectors are
compared."""
NEAREST = 5
"""Maximum pairs of an entity with entities that follow it in the order of names."""
PAGE = 1000
MOST_REFUSED = 10
"""Maximum number of pairs to name if they are too long for the model."""
LONGEST_NAME = 80
"""Maximum characters to show of each name in these pairs."""

Vectors = Mapping[Named, NDArray[np.float32]]


@dataclass(slots=True)
class NamesJudged:
    """The numbers of pairs of names that were judged, and that mean the same thing.

    ``waiting`` counts the pairs that were not judged. ``stopped`` is the limit that ended the work,
    and ``error`` is the failure that ended the work. ``refused`` names the first pairs that are too
    long for the model even in a call of their own, and ``refusal`` is the last reason.
    """

    pairs: int = 0
    same: int = 0
    waiting: int = 0
    stopped: str = ""
    error: str = ""
    refused: tuple[str, ...] = ()
    refusal: str = ""

    @property
    def why(self) -> str:
        """The reason why pairs still wait, empty if the reason is a limit."""
        return self.error or self.refusal

    @property
    def ended(self) -> bool:
        """Whether a limit or a failure ended all calls."""
        return bool(self.stopped or self.error)


async def judge_names(
    db: Database, writer: Writer, arbiter: Arbiter, limit: int, on_event: OnEvent
) -> NamesJudged:
    """Let the arbiter judge the close names of a graph, with ``limit`` calls at once.

    A judged pair is not judged again. The judgments of each round are published before the next
    round, so that an interruption loses only the calls in flight. Raises DatabaseError,
    LeaseLostError, and ConfigError without rapidfuzz.
    """
    done = NamesJudged()
    on_event(StepStarted("ingest", "close names"))
    judgments = await read_judgments(db, writer.graph)
    pairs = await find_pairs(db, writer.graph, writer.resolution, judgments)
    done.waiting = len(pairs)
    calls = [pairs[first : first + PAIRS] for first in range(0, len(pairs), PAIRS)]
    for first in range(0, len(calls), limit):
        some = calls[first : first + limit]
        judged = await _judge_round(db, writer, arbiter, some, done)
        if not judged:
            continue
        judgments += judged
        resolution = replace(writer.resolution, judged=group_judged_names(judgments))
        writer = replace(writer, resolution=resolution)
        suspects = [named for one in judged if one.same for named in one.pair]
        change = await compute_change(db, writer.graph, (), (), resolution, suspects)
        await publish(db, writer, Publication(gone=(), documents=(), change=change, judged=judged))
        done.pairs += len(judged)
        done.same += sum(one.same for one in judged)
        done.waiting -= len(judged)
        on_event(Progressed("ingest", done.pairs, len(pairs), "pairs of names judged"))
    return done


async def find_pairs(
    db: Database, graph: str, resolution: Resolution, judgments: Sequence[Judgment]
) -> list[Pair]:
    """Return the pairs to judge, the closest first.

    Raises DatabaseError, and ConfigError without rapidfuzz.
    """
    present = await read_all_present(db, graph)
    leaders = [one.name for named, one in present.items() if one.entity == named]
    known = {one.pair for one in judgments}
    vectors = await read_vectors(db, graph)

    def find() -> list[Pair]:
        return close_pairs(leaders, resolution, known, near=near_pairs(vectors))

    return await asyncio.to_thread(find)


async def _judge_round(
    db: Database,
    writer: Writer,
    arbiter: Arbiter,
    calls: Sequence[Sequence[Pair]],
    done: NamesJudged,
) -> list[Judgment]:
    """Make some calls at once, and return their judgments."""
    if done.ended:
        return []
    named = {name for pairs in calls for pair in pairs for name in pair}
    shown = await _read_shown_names(db, writer.graph, named)
    replies = await together(*(_judge_pairs(arbiter, pairs, shown, done) for pairs in calls))
    return [one for reply in replies for one in reply]


async def _judge_pairs(
    arbiter: Arbiter, pairs: Sequence[Pair], shown: Mapping[Named, ShownName], done: NamesJudged
) -> list[Judgment]:
    """Return the judgments on some pairs; pairs without a judgment are left out."""
    said = await judge_shown(arbiter, [(shown[one], shown[other]) for one, other in pairs], done)
    return [*_make_judgments(pairs, said)]


async def judge_shown(
    arbiter: Arbiter, pairs: Sequence[tuple[ShownName, ShownName]], done: NamesJudged
) -> list[bool | None]:
    """Return whether each pair means the same thing, None without a judgment.

    If there are too many pairs for the model, each half is judged. A pair that is too long on its
    own is recorded in ``done``. A limit or failure that ends all calls is also recorded there; the
    judgments made before it stay valid.
    """
    if done.ended:
        return [None for _ in pairs]  # The pairs wait for the next ingestion.
    with noting_end(done):
        try:
            return await arbiter.judge(pairs)
        except PromptTooLongError as error:
            if len(pairs) > 1:
                middle = len(pairs) // 2
                first = await judge_shown(arbiter, pairs[:middle], done)
                return [*first, *await judge_shown(arbiter, pairs[middle:], done)]
            ((one, other),) = pairs
            names = (one_line(name.name, LONGEST_NAME) for name in (one, other))
            named = f"{' and '.join(names)} ({one.type})"
            done.refused = (*done.refused, named)[:MOST_REFUSED]
            done.refusal = str(error)
    return [None for _ in pairs]


def _make_judgments(pairs: Sequence[Pair], said: Sequence[bool | None]) -> Iterator[Judgment]:
    for (one, other), same in zip(pairs, said, strict=True):
        if same is not None:
            yield Judgment(one, other, same)


async def _read_shown_names(db: Database, graph: str, named: set[Named]) -> dict[Named, ShownName]:
    """Return the names of entities as a prompt shows them."""
    by_id = {entity_id(one): one for one in sorted(named)}
    query = queries.get("documents/enrich/read_shown_names")
    rows = await db.read(query, graph=graph, ids=[*by_id])
    found = {
        by_id[row["id"]]: ShownName(row["name"], by_id[row["id"]][1], row["said"]) for row in rows
    }
    return {one: found.get(one, ShownName(one[0], one[1])) for one in named}


async def read_vectors(db: Database, graph: str) -> dict[Named, NDArray[np.float32]]:
    """Return the vectors ``(d,)`` of entities by their leading names.

    The result is empty if there are more than ``MOST_READ`` vectors. Raises DatabaseError.
    """
    found: dict[Named, NDArray[np.float32]] = {}
    space = await read_space(db, graph)
    if space is None:
        return found
    after, query = "", queries.get("documents/enrich/read_vectors")
    while True:
        rows = await db.read(query, graph=graph, model=space.model, after=after, limit=PAGE)
        for row in rows:
            found[row["key"], row["type"]] = np.asarray(row["vector"], np.float32)
        if len(found) > MOST_READ:
            return {}
        if len(rows) < PAGE:
            return found
        after = rows[-1]["id"]


def near_pairs(vectors: Vectors) -> dict[Pair, float]:
    """Return pairs of one type whose cosine is at least ``LEAST_COSINE``, with their cosines.

    Names are compared in sorted order. Each entity is paired with at most ``NEAREST`` of the
    entities that follow it, the nearest first.
    """
    by_type: dict[tuple[str, int], list[Named]] = defaultdict(list)
    for named in sorted(vectors):
        by_type[named[1], len(vectors[named])].append(named)
    found: dict[Pair, float] = {}
    for names in by_type.values():
        rows = np.stack([vectors[named] for named in names])
        # The minimum length avoids a division by 0; a vector of zeros gets cosines of 0.
        rows = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
        for at, row in enumerate(rows[:-1]):
            cosines = rows[at + 1 :] @ row
            for place in np.argsort(-cosines, kind="stable")[:NEAREST]:
                if cosines[place] >= LEAST_COSINE:
                    found[names[at], names[at + 1 + place]] = float(cosines[place])
    return found
