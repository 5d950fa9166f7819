"""Measures whether wrong names in published statements are found, with the right ones.

    python -m tests.bench.wrong_names
    python -m tests.bench.wrong_names --list

No database and no model takes part. The publisher of 9,752 statements marks those that name what
their database does not have. A wrong name is found if it is reported, or if its label or type is
reported: ``Award.name`` is wrong because there is no label ``Award``. What would have been right
is judged by hand from the questions and the schemas, in ``RIGHT``. Where a database holds nothing
of the kind, no suggestion is right, and these are counted apart.

A statement without a mark should have no unknown name. Wrong arrows and wrong ends of a type are
listed apart, because the publisher does not mark them. ``--list`` prints each case.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from pgs_neo4j.database.gate.tokens import read_tokens
from pgs_neo4j.errors import GateError, InputFileError
from pgs_neo4j.pgs.querying.statements.names import find_names
from pgs_neo4j.pgs.querying.statements.unknown_names import (
    NearName,
    UnknownName,
    find_unknown_names,
)
from tests.bench import program
from tests.bench.graphs import DATA
from tests.published_statements import ARCHIVE, Pair, Published, read_published

# By database and wrong name: the right names, any of which is right first. A wrong name that is
# not listed here has no right one.
RIGHT: dict[str, dict[str, str]] = {
    "buzzoverflow": {"ANSWERED": "Question.answered"},
    "companies": {
        "AUTHORED": "Article.author",
        "HAS_INDUSTRY": "HAS_CATEGORY",
        "HAS_SIBLING": "HAS_PARENT HAS_CHILD",
        "MENTIONED_IN": "MENTIONS",
        "WORKS_FOR": "HAS_CEO HAS_BOARD_MEMBER",
    },
    "fincen": {
        "BENEFICIARY": "BENEFITS",
        "Country.country": "Entity.country Country.code",
        "Entity.beneficiary_bank": "Filing.beneficiary_bank",
    },
    "movies": {
        "Movie.rating": "REVIEWED.rating",
        "Movie.roles": "ACTED_IN.roles",
        "Movie.summary": "REVIEWED.summary",
        "Person.rating": "REVIEWED.rating",
        "Person.roles": "ACTED_IN.roles",
        "Person.summary": "REVIEWED.summary",
    },
    "neoflix": {
        "Adult.job": "CREW_FOR.job",
        "Video.job": "CREW_FOR.job",
        "Movie.backdrop_path": "Collection.backdrop_path Movie.poster_path",
        "Person.job": "CREW_FOR.job",
        "SPEAKS_LANGUAGE": "SPOKEN_IN_LANGUAGE ORIGINAL_LANGUAGE",
    },
    "network": {
        "Interface.zone": "Network.zone Zone.zone Router.zone",
        "Machine.zone": "Rack.zone",
        "Version.startTime": "OS.startTime",
    },
    "northwind": {
        "Employee": "Order.employeeID",
        "Employee.employeeID": "Order.employeeID",
        "Order.discount": "ORDERS.discount",
        "Order.quantity": "ORDERS.quantity",
        "Order.unitPrice": "ORDERS.unitPrice Product.unitPrice",
        "Product.country": "Supplier.country",
    },
    "offshoreleaks": {
        "Address.status": "Entity.status Intermediary.status",
        "Officer.address": "Address.address",
        "Officer.former_name": "Entity.former_name",
        "Officer.status": "officer_of.status",
    },
    "recommendations": {
        "DIRECTED_BY": "DIRECTED",
        "User.rating": "RATED.rating",
        "User.timestamp": "RATED.timestamp",
    },
    "stackoverflow2": {
        "Answer.creation_date": "Question.creation_date",
        "Question.score": "Answer.score Comment.score",
    },
    "twitch": {
        "Game.createdAt": "Stream.createdAt",
        "Game.total_view_count": "Stream.total_view_count",
        "STREAMER": "Stream",
        "Team.followers": "Stream.followers",
    },
    "twitter": {
        "Tweet.retweets": "RETWEETS",
        "Tweet.url": "Link.url",
        "User.score": "SIMILAR_TO.score",
    },
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, write the figures, and return the exit code."""
    parser = program.parser("wrong_names", __doc__)
    parser.add_argument("--list", action="store_true", help="print each case")
    options = parser.parse_args(arguments)
    return program.told(lambda: _measure(options), _table, options.json)


def measure(published: Published) -> dict[str, Any]:
    """Return the figures: counts of names and of statements, and the cases that are not right."""
    counts: Counter[str] = Counter()
    missed, second, alarms, arrows = list[str](), list[str](), list[str](), list[str]()
    nothing: list[str] = []
    counts["without schema"] = len(published.pairs) - len(published.with_schema)
    for pair in published.with_schema:
        counts["statements"] += 1
        try:
            names = find_names(read_tokens(pair.statement))
        except GateError:
            counts["not Cypher"] += 1
            counts["wrong names not read"] += len(pair.wrong)
            continue
        found = find_unknown_names(names, published.schemas[pair.database])
        for name in pair.wrong:
            counts["wrong names"] += 1
            report = find_report(name, found)
            if report is None:
                missed.append(_show(pair, name, found))
                continue
            counts["found"] += 1
            right = right_names(pair.database, name)
            first = write_near(report.near[0]) if report.near else ""
            if not right:
                counts["nothing right"] += 1
                counts["nothing right, and nothing suggested"] += not report.near
                nothing.append(_show(pair, name, (report,)))
                continue
            counts["with a right name"] += 1
            counts["right name first"] += first in right
            counts["right name suggested"] += any(write_near(one) in right for one in report.near)
            if first not in right:
                second.append(_show(pair, name, (report,)))
        unmarked = [one for one in found if not _is_marked(one, pair)]
        exist = [one for one in unmarked if one.fault in ("label", "type", "property")]
        other = [one for one in unmarked if one.fault in ("ends", "direction")]
        counts["statements without a mark"] += not pair.wrong
        counts["of these, with an unknown name"] += not pair.wrong and bool(exist)
        counts["of these, with wrong ends"] += not pair.wrong and any(
            one.fault == "ends" for one in other
        )
        counts["of these, with a wrong arrow"] += not pair.wrong and any(
            one.fault == "direction" for one in other
        )
        if not pair.wrong:
            alarms += [_show(pair, "", (one,)) for one in exist]
            arrows += [_show(pair, "", (one,)) for one in other]
    return {
        "counts": dict(counts), "missed": missed, "not first": second, "nothing right": nothing,
        "unmarked": alarms, "arrows": arrows,
    }  # fmt: skip


def right_names(database: str, wrong: str) -> frozenset[str]:
    """Return the right names for a wrong one; empty if the database holds nothing of the kind."""
    return frozenset(RIGHT.get(database, {}).get(wrong, "").split())


def find_report(wrong: str, found: Sequence[UnknownName]) -> UnknownName | None:
    """Return the report about a wrong name, such as ``AUTHORED`` or ``User.score``."""
    owner, _, name = wrong.rpartition(".")
    if not owner:
        return next((one for one in found if _names(one, name) and one.fault != "property"), None)
    of_property = (
        one
        for one in found
        if one.fault == "property" and _names(one, name) and (owner in one.owners or not one.owners)
    )
    of_owner = (one for one in found if one.fault in ("label", "type") and _names(one, owner))
    return next(chain(of_property, of_owner), None)


def write_near(near: NearName) -> str:
    """Return a near name as the publisher writes names: ``Label``, ``TYPE``, ``Label.name``."""
    return f"{near.owner}.{near.name}" if near.owner else near.name


def _names(one: UnknownName, name: str) -> bool:
    return name in one.names


def _is_marked(one: UnknownName, pair: Pair) -> bool:
    return any(find_report(wrong, (one,)) is not None for wrong in pair.wrong)


def _show(pair: Pair, name: str, found: Sequence[UnknownName]) -> str:
    shown = "; ".join(map(str, found))
    return f"{pair.database} {name} [{pair.question}] {' '.join(pair.statement.split())} => {shown}"


def _measure(options: argparse.Namespace) -> dict[str, Any]:
    if not (Path(DATA) / ARCHIVE).is_file():
        raise InputFileError(f"{ARCHIVE} is absent from {DATA}; put it there")
    figures = measure(read_published(Path(DATA) / ARCHIVE))
    if not options.list:
        figures = {"counts": figures["counts"]}
    counts = figures["counts"]
    figures["false"] = [
        claim
        for claim, holds in (
            ("every wrong name is found", counts["found"] == counts["wrong names"]),
            (
                "the right name is first for 90 %",
                counts["right name first"] >= 0.9 * counts["with a right name"],
            ),
        )
        if not holds
    ]
    return figures


def _table(figures: dict[str, Any]) -> str:
    rows = [[name, f"{count:,}"] for name, count in figures["counts"].items()]
    lists = [
        f"\n{name}:\n" + "\n".join(figures[name]) + "\n"
        for name in ("missed", "not first", "nothing right", "unmarked", "arrows")
        if figures.get(name)
    ]
    return program.aligned(rows) + "".join(lists)


if __name__ == "__main__":
    sys.exit(main())
