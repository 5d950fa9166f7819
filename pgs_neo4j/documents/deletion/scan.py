"""Searches the whole database for text of deleted documents, and removes this text if possible.

Within a scope, the search also reads everything, but reports and removes only text of the scope:
another scope may have the same sentence in documents of its own.

Stored replies, skeletons, and descriptions are removed, because pgs makes them again when they are
missing. Answers lose the texts that quote a deleted document if the user asks for it.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.queries import Row
from pgs_neo4j.database.search_indexes import list_search_indexes
from pgs_neo4j.events import OnEvent, Progressed, ignore
from pgs_neo4j.model.ingest import QuotingRun
from pgs_neo4j.model.scope import NO_SCOPE
from pgs_neo4j.text.traces import SHORTEST, Traces
from pgs_neo4j.text.words import stems

MEGABYTE = 1_000_000
BATCH = MEGABYTE
"""Number of characters to compare at once."""
FETCHED = 200
"""Rows to fetch at once. The text of an answer has about 100,000 characters."""
LEAST = SHORTEST
"""Length in characters of the shortest text that can contain a run. In scripts without spaces, a
word may have one character."""
DESCRIBED = "PgsPartition"
ANSWERS = frozenset(
    (
        *("PgsRun", "PgsSweep", "PgsFinding", "PgsFlag", "PgsAbsence"),
        *("PgsThesis", "PgsConnection", "PgsConvergence"),
    )
)
"""Labels of the nodes that make up an answer."""
REPLACED = ANSWERS | {DESCRIBED}
"""Labels of nodes that may lose texts, but stay in the graph."""
FORGOTTEN = "[forgotten: it quoted a deleted document]"
"""The text that replaces a removed text."""
REMADE = frozenset(("PgsReply", "PgsExtraction", "PgsSkeleton"))
"""Labels of nodes that pgs makes again when they are missing."""
KEYS = frozenset(("id", "uid", "key", "graph", "run", "holder", "idempotency"))
"""Properties that identify nodes, which never change."""
SEVERAL = 2
"""Minimum words of a JSON value that counts as text. Fixed values, such as kinds, have one word."""
MOST = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldText:
    """A property that contains traces.

    For a relationship, ``labels`` and ``element_id`` are empty, and ``ends`` are the element ids of
    its nodes. ``value`` is set only for pgs's own nodes whose texts may be replaced.
    """

    kind: str
    id: str
    place: str
    labels: tuple[str, ...] = ()
    element_id: str = ""
    ends: tuple[str, ...] = ()
    value: Any = None


@dataclass(slots=True)
class Scan:
    """The progress of a search, and the properties with traces found so far."""

    traces: Traces
    on_event: OnEvent = ignore
    characters: int = 0
    indexes: int = 0
    found: list[HeldText] = field(default_factory=list)


async def drop_live_texts(db: Database, graph: str, traces: Traces, gone: Sequence[str]) -> None:
    """Remove text from ``traces`` that chunks of documents outside ``gone`` also contain.

    Raises DatabaseError.
    """
    query = queries.get("documents/deletion/read_live_texts")
    await db.stream(query, partial(_drop_texts, traces), fetch=FETCHED, graph=graph, gone=[*gone])


async def _drop_texts(traces: Traces, rows: AsyncIterator[Row]) -> None:
    texts: list[str] = []
    size = 0
    async for row in rows:
        texts.append(row["text"])
        size += len(row["text"])
        if size > BATCH:
            traces.drop(texts)
            texts, size = [], 0
    traces.drop(texts)


async def scan_remade(db: Database, traces: Traces) -> Scan:
    """Search the nodes that pgs makes again when they are missing, and return those with traces.

    Raises DatabaseError.
    """
    query = queries.get("documents/deletion/scan_remade")
    look = partial(_search_rows, Scan(traces))
    return await _keep_own(db, await db.stream(query, look, fetch=FETCHED, least=LEAST))


async def scan_database(db: Database, graph: str, traces: Traces, on_event: OnEvent) -> Scan:
    """Search nodes, relationships, and full-text indexes, and return all properties with traces.

    The search reads all text once. This takes 3 to 10 seconds per 10 MB, mostly because of the many
    rows of relationships. It needs memory for one batch. If another transaction deletes something
    that a statement has found, the statement starts again. Raises DatabaseError.
    """
    scan, whole = Scan(traces, on_event), db.scoped(NO_SCOPE)
    query, stored = queries.get("documents/deletion/scan_nodes"), db.scope.qualify(graph)
    look = partial(_search_rows, scan)
    scan = await whole.stream(query, look, fetch=FETCHED, graph=stored, least=LEAST)
    query = queries.get("documents/deletion/scan_relationships")
    look = partial(_search_relationships, scan)
    scan = await whole.stream(query, look, fetch=FETCHED, least=LEAST)
    if db.scope:
        return await _keep_own(db, scan)
    await _ask_indexes(db, scan)
    return scan


async def _keep_own(db: Database, scan: Scan) -> Scan:
    """Return a scan with only the properties that belong to the scope; without a scope, all."""
    if not db.scope:
        return scan
    ids = {id_ for one in scan.found for id_ in (one.element_id, *one.ends) if id_}
    query = queries.get("documents/deletion/select_own")
    (row,) = await db.read(query, ids=sorted(ids), suffix=db.scope.suffix)
    own = set(row["own"])
    found = [one for one in scan.found if own.issuperset(one.ends or (one.element_id,))]
    return replace(scan, found=found)


async def _search_relationships(scan: Scan, rows: AsyncIterator[Row]) -> Scan:
    return await _search_rows(scan, _unpack_relationships(rows))


async def _unpack_relationships(rows: AsyncIterator[Row]) -> AsyncIterator[Row]:
    """Yield one row per relationship; a row of ``rows`` has all relationships of a node."""
    async for row in rows:
        for one in row["found"]:
            ends = (row["element_id"], one["end"])
            yield {**one, "id": f"{row['id']} -> {one['target']}", "ends": ends}


async def _search_rows(before: Scan, rows: AsyncIterator[Row]) -> Scan:
    """Return a scan that adds the traces in ``rows`` to ``before``.

    ``before`` is not changed, because the statement may have to start again.
    """
    scan = replace(before, found=[*before.found])
    texts: list[str] = []
    held: list[HeldText] = []
    size = 0
    async for row in rows:
        for place, value in row["values"]:
            own = [value] if isinstance(value, str) else value
            texts += own
            held += [_make_held(row, place, value)] * len(own)
            size += sum(map(len, own))
        if size > BATCH:
            _compare(scan, texts, held)
            texts, held, size = [], [], 0
    _compare(scan, texts, held)
    return scan


def _compare(scan: Scan, texts: list[str], held: list[HeldText]) -> None:
    scan.characters += sum(map(len, texts))
    found = {id(held[place]): held[place] for place in scan.traces.find(texts)}
    scan.found += found.values()
    scan.on_event(Progressed("ingest", scan.characters // MEGABYTE, 0, "MB searched"))


def _make_held(row: Row, place: str, value: Any) -> HeldText:
    labels = tuple(row.get("labels", ()))
    own = [label for label in labels if label != "LoadedNode"] or [*labels]
    return HeldText(
        kind=row.get("type") or ":".join(sorted(own)),
        id=row["id"],
        place=place,
        labels=labels,
        element_id=row.get("element_id", ""),
        ends=row.get("ends", ()),
        value=value if REPLACED.intersection(labels) else None,
    )


async def _ask_indexes(db: Database, scan: Scan) -> None:
    """Search full-text indexes for phrases, and add nodes whose current texts lack the phrase."""
    phrases = [_quote_phrase(phrase) for phrase in scan.traces.phrases]
    holding = {one.element_id for one in scan.found}
    for index in await list_search_indexes(db) if phrases else ():
        if (index.kind, index.entity, index.state) != ("text", "node", "ONLINE"):
            continue
        query = queries.get("documents/deletion/find_phrases")
        scan.indexes += 1
        outdated = {
            row["id"]: HeldText(kind="index", id=row["id"], place=index.name)
            for row in await db.read(query, index=index.name, phrases=phrases)
            if row["element_id"] not in holding and not _is_alike(row["phrase"], row["texts"])
        }
        scan.found += outdated.values()


def _is_alike(phrase: str, texts: Iterable[str]) -> bool:
    """Return whether texts contain all stems of a phrase, so that an analyzer may match it."""
    return set(stems(phrase)) <= {stem for text in texts for stem in stems(text)}


def _quote_phrase(phrase: str) -> str:
    """Return a phrase quoted for Lucene's query language."""
    escaped = phrase.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


@dataclass(frozen=True, slots=True)
class Removed:
    """The numbers of removed replies and descriptions."""

    replies: int = 0
    descriptions: int = 0


async def remove_remade(db: Database, held: Sequence[HeldText], traces: Traces) -> Removed:
    """Delete replies and skeletons with traces, and remove traces from partition descriptions.

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
    await _replace_values(db, partitions, lambda value: without(value, traces, ""))
    return Removed(replies, descriptions + len({one.element_id for one in partitions}))


async def find_quoting(db: Database, held: Sequence[HeldText]) -> dict[str, QuotingRun]:
    """Return the runs whose records contain traces, by element id. Raises DatabaseError."""
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
    """Remove the texts with traces from answers, and return the cleaned properties.

    Numbers, links, coverage, and keys stay. Raises DatabaseError.
    """
    own = [one for one in held if ANSWERS.intersection(one.labels) and one.place not in KEYS]
    await _replace_values(db, own, lambda value: without(value, traces, FORGOTTEN))
    return own


def without(value: Any, traces: Traces, mark: str) -> Any:
    """Return a property's value with ``mark`` in place of each text that contains traces.

    In JSON, texts are replaced one by one, or the whole JSON if traces remain after that. If
    ``mark`` is empty, a list loses the texts with traces.
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
    text = json.dumps(_remove_leaves(data, traces, mark), ensure_ascii=False)
    return mark if traces.find([text]) else text


def _remove_leaves(data: Any, traces: Traces, mark: str) -> Any:
    """Return JSON data with ``mark`` in place of the texts and keys that contain traces.

    A trace may span several texts. Then in the smallest list or object around these texts, all
    texts of several words are replaced, or all texts if the trace remains after that.
    """
    if isinstance(data, str):
        return mark if traces.find([data]) else data
    if isinstance(data, dict):
        keys = [mark if traces.find([key]) else key for key in data]
        values = [_remove_leaves(one, traces, mark) for one in data.values()]
        data = dict(zip(keys, values, strict=True))
    elif isinstance(data, list):
        data = [_remove_leaves(one, traces, mark) for one in data]
    else:
        return data
    for words in (SEVERAL, 1):
        if traces.find([json.dumps(data, ensure_ascii=False)]):
            data = _replace_texts(data, mark, words)
    return data


def _replace_texts(data: Any, mark: str, words: int) -> Any:
    """Return JSON data with ``mark`` in place of each text of at least ``words`` words."""
    if isinstance(data, dict):
        return {key: _replace_texts(one, mark, words) for key, one in data.items()}
    if isinstance(data, list):
        return [_replace_texts(one, mark, words) for one in data]
    return mark if isinstance(data, str) and len(data.split()) >= words else data


async def _replace_values(
    db: Database, held: Iterable[HeldText], changed: Callable[[Any], Any]
) -> None:
    values: dict[str, Row] = defaultdict(dict)
    for one in held:
        values[one.element_id][one.place] = changed(one.value)
    rows = [{"element_id": id_, "values": own} for id_, own in values.items()]
    for first in range(0, len(rows), MOST):
        query = queries.get("documents/deletion/set_forgotten")
        await db.write(query, rows=rows[first : first + MOST], mark=FORGOTTEN)
