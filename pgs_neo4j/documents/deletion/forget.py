"""Removes text of deleted documents from our records, and says whose they are."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.queries import Row
from pgs_neo4j.documents.deletion.scan import ANSWERS, DESCRIBED, HeldText
from pgs_neo4j.model.deletion import QuotingRun
from pgs_neo4j.text.traces import Traces

FORGOTTEN = "[forgotten: it quoted a deleted document]"
"""Stands in place of a text that was removed."""
REMADE = frozenset(("PgsReply", "PgsExtraction", "PgsSkeleton"))
"""Labels of what is made again when it is missing."""
KEYS = frozenset(("id", "uid", "key", "graph", "run", "holder", "idempotency"))
"""Properties that nodes are found by, which never change."""
SEVERAL = 2
"""Words of a text of JSON, at least; fixed words, such as kinds, have one."""
MOST = 500


@dataclass(frozen=True, slots=True)
class Removed:
    """How many stored replies and descriptions were removed."""

    replies: int = 0
    descriptions: int = 0


async def remove_remade(db: Database, held: Sequence[HeldText], traces: Traces) -> Removed:
    """Delete stored replies and skeletons, and empty descriptions of partitions.

    All of them are made again when they are needed. Raises DatabaseError.
    """
    ids = sorted({one.element_id for one in held if REMADE.intersection(one.labels)})
    replies = descriptions = 0
    for first in range(0, len(ids), MOST):
        query = queries.get("documents/deletion/delete_remade")
        for row in await db.write(query, ids=ids[first : first + MOST]):
            replies += row["replies"]
            descriptions += row["descriptions"]
    partitions = [one for one in held if DESCRIBED in one.labels and one.place not in KEYS]
    await _replace(db, partitions, lambda value: without(value, traces, ""))
    return Removed(replies, descriptions + len({one.element_id for one in partitions}))


async def find_quoting(db: Database, held: Sequence[HeldText]) -> dict[str, QuotingRun]:
    """Return the runs whose records hold traces, by element id. Raises DatabaseError."""
    ids = sorted({one.element_id for one in held if ANSWERS.intersection(one.labels)})
    query = queries.get("documents/deletion/read_quoting_runs")
    rows = await db.read(query, ids=ids) if ids else []
    return {
        row["element_id"]: QuotingRun(
            run=row["run"], session=row["session"], graph=row["graph"], question=row["question"]
        )
        for row in rows
    }


async def forget(db: Database, held: Sequence[HeldText], traces: Traces) -> list[HeldText]:
    """Remove the texts of answers that hold traces; return those that hold them no more.

    Numbers and links stay, and so do coverage and the keys. Raises DatabaseError.
    """
    own = [one for one in held if ANSWERS.intersection(one.labels) and one.place not in KEYS]
    await _replace(db, own, lambda value: without(value, traces, FORGOTTEN))
    return own


def without(value: Any, traces: Traces, mark: str) -> Any:
    """Return a property without the texts that hold traces; each becomes ``mark``.

    Those of JSON are removed one by one, and as a whole if that is not enough. A list loses its
    texts if there is no mark.
    """
    if isinstance(value, list):
        left = [without(one, traces, mark) for one in value]
        return [one for one in left if one != "" or mark]
    if not isinstance(value, str) or not traces.find([value]):
        return value
    try:
        data = json.loads(value) if value[:1] in ("{", "[") else None
    except ValueError:
        data = None
    if data is None:
        return mark
    text = json.dumps(_without_leaves(data, traces, mark), ensure_ascii=False)
    return mark if traces.find([text]) else text


def _without_leaves(data: Any, traces: Traces, mark: str) -> Any:
    """Return JSON data without the texts and keys that hold traces.

    If several of them hold a trace together, the smallest value around them loses its longer texts,
    and if they hold one still, all of them.
    """
    if isinstance(data, str):
        return mark if traces.find([data]) else data
    if isinstance(data, dict):
        keys = [mark if traces.find([key]) else key for key in data]
        values = [_without_leaves(one, traces, mark) for one in data.values()]
        data = dict(zip(keys, values, strict=True))
    elif isinstance(data, list):
        data = [_without_leaves(one, traces, mark) for one in data]
    else:
        return data
    for words in (SEVERAL, 1):
        if traces.find([json.dumps(data, ensure_ascii=False)]):
            data = _marked(data, mark, words)
    return data


def _marked(data: Any, mark: str, words: int) -> Any:
    """Return JSON data with the mark in place of each text of so many words."""
    if isinstance(data, dict):
        return {key: _marked(one, mark, words) for key, one in data.items()}
    if isinstance(data, list):
        return [_marked(one, mark, words) for one in data]
    return mark if isinstance(data, str) and len(data.split()) >= words else data


async def _replace(db: Database, held: Iterable[HeldText], changed: Callable[[Any], Any]) -> None:
    values: dict[str, Row] = defaultdict(dict)
    for one in held:
        values[one.element_id][one.place] = changed(one.value)
    rows = [{"element_id": id_, "values": own} for id_, own in values.items()]
    for first in range(0, len(rows), MOST):
        query = queries.get("documents/deletion/set_forgotten")
        await db.write(query, rows=rows[first : first + MOST], mark=FORGOTTEN)
