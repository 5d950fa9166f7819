"""What is asked of the database about nodes and costs, and what becomes of its rows."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from pgs_neo4j.engine.browse import nodes, pages
from pgs_neo4j.engine.browse.nodes import GraphView, read_findings, read_node
from pgs_neo4j.engine.browse.pages import LARGEST, read_members, read_neighbors
from pgs_neo4j.engine.runs import DayCost, read_costs
from pgs_neo4j.errors import UsageError
from pgs_neo4j.model import GraphMapping
from tests.fakes.database import FakeDatabase, Row

MAPPING = GraphMapping(
    labels=("Paper",), relationship_types=("CITES",), text=("abstract",), title="title",
    key="doi", weight="score", embedding="vector", relationship_text="fact",
)  # fmt: skip
VIEW = GraphView("papers", MAPPING)


def node_row(**changes: Any) -> Row:
    row = {
        "element_id": "4:a:1", "labels": ["Paper"], "text": ["Owls hunt at night."],
        "title": "Owls", "key": "doi/1", "weight": 2, "properties": [], "property_count": 0,
        "place": {"partition": 3, "label": "birds", "rank": 0},
    }  # fmt: skip
    return row | changes


def neighbor_row(place: int, **changes: Any) -> Row:
    row = {
        "place": place, "type": "CITES", "outgoing": True, "element_id": f"4:a:{place}",
        "labels": ["Paper"], "name": "", "fact": "It cites.", "title": f"Paper {place}",
        "key": None, "text": [None],
    }  # fmt: skip
    return row | changes


def round_row(*places: int, tried: int = 3) -> Row:
    """One round of a page: the neighbors in the view among those that were tried."""
    found = [neighbor_row(place) for place in places]
    return {"complete": True, "tried": tried, "last": 9, "neighbors": found}


async def test_properties_are_bounded_json_data() -> None:
    long = "x" * (nodes.CHARACTERS + 1)
    pairs = [["a", long], ["b", [1, long, b"x"]], ["c", b"bytes"], ["d", float("nan")], ["e", True]]
    db = FakeDatabase(node_by_id=[node_row(properties=pairs, property_count=103)])
    node = await read_node(db, VIEW, "4:a:1")
    cut = "x" * nodes.CHARACTERS + "…"
    assert node.properties == {"a": cut, "b": [1, cut, "b'x'"], "d": None, "e": True}
    assert node.properties_left_out == 3


async def test_relationships_out_of_the_view_take_further_rounds() -> None:
    first = 3 * pages.FIRST
    rounds = [[round_row(4, tried=first)], [round_row(12, 15, tried=2)]]
    db = FakeDatabase(read_neighbors=lambda params: rounds.pop(0))
    page = await read_neighbors(db, VIEW, "4:a:1", after="2", limit=2)
    assert [one.element_id for one in page.neighbors] == ["4:a:4", "4:a:12"]
    assert page.after == "12"
    sent = [(row["after"], row["candidates"]) for row in db.params("read_neighbors")]
    assert sent == [(2, first), (9, first * pages.GROWTH)]


@pytest.mark.parametrize("after", ["", "-1", "x", "٣", "9" * 19])
async def test_a_malformed_cursor_is_refused(after: str) -> None:
    with pytest.raises(UsageError, match="leads to no page"):
        await read_neighbors(FakeDatabase(), VIEW, "4:a:1", after=after)


@pytest.mark.parametrize("limit", [0, -1, 501])
async def test_a_page_has_a_bounded_size(limit: int) -> None:
    db = FakeDatabase()
    for reading in (
        read_neighbors(db, VIEW, "4:a:1", limit=limit),
        read_findings(db, VIEW, "4:a:1", limit=limit),
        read_members(db, VIEW, 1, limit=limit),
    ):
        with pytest.raises(UsageError, match="limit must be from 1 to 500"):
            await reading
    assert db.sent == []


async def test_a_finding_tells_what_it_quotes_from_the_node() -> None:
    row = {name: node_row()[name] for name in ("element_id", "labels", "text", "title", "key")}
    finding = {
        "id": "r1:1:0", "supported": True, "run": "r1", "session": "s", "question": "Why?",
        "partition": 3, "started_at": "2026-11-23T00:00:00Z", "doubts": [],
    }  # fmt: skip
    texts = ('As "owls hunt at NIGHT" says [n1].', 'As "mice hide from owls" says [n1].')
    doubted = finding | {"text": "It has 9 owls [n1].", "doubts": ["no cited node has 9"]}
    rows = [row | {"findings": [*(finding | {"text": text} for text in texts), doubted]}]
    db = FakeDatabase(read_findings=rows)
    first, second, third = await read_findings(db, VIEW, "4:a:1", sessions=("s",))
    assert (first.quotes, first.quoted) == (("owls hunt at NIGHT",), True)
    assert (second.quotes, second.quoted, second.question) == ((), False, "Why?")
    assert third.text == "It has 9 owls [n1]. (in doubt: no cited node has 9)"
    (sent,) = db.params("read_findings")
    assert (sent["every"], sent["sessions"]) == (False, ["s"])


async def test_numbers_that_no_partition_has_are_bounded() -> None:
    db = FakeDatabase()
    assert await read_members(db, VIEW, 10**30, after=-(10**30)) is None
    (sent,) = db.params("read_members")
    assert (sent["partition"], sent["after"]) == (LARGEST, -1)


ROW: dict[str, Any] = {
    "day": "2026-01-01", "task": "run", "graph": "papers", "session": "s", "model": "m", "runs": 1,
    "calls": 2,
    "cached": 3, "input_tokens": 4, "output_tokens": 5, "cache_read_tokens": 2,
    "cache_write_tokens": 1, "cost": 0.5, "unpriced": 0,
}  # fmt: skip


@pytest.mark.parametrize("days", [1, 7, 30])
async def test_days_include_today(days: int) -> None:
    db: Any = FakeDatabase(read_costs=[ROW])
    assert await read_costs(db, days) == [DayCost(**ROW)]
    (params,) = db.params("read_costs")
    age = datetime.now(UTC).date() - date.fromisoformat(params["since"])
    assert age == timedelta(days=days - 1)
