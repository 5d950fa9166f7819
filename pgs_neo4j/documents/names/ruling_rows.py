"""Rulings and judgments on names as they are written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pgs_neo4j.database.queries import Row
from pgs_neo4j.documents.fold.contribution import Named
from pgs_neo4j.documents.fold.judgments import Judgment
from pgs_neo4j.documents.fold.rulings import Ruling
from pgs_neo4j.graph.hashes import digest


def ruling_id(named: Named) -> str:
    """Return the id of the ruling on a name; it is unique within a graph."""
    return f"ruling:{named[1]}:{named[0]}"


def ruled_rows(ruled: Mapping[Named, Ruling], judged: Iterable[Judgment]) -> list[Row]:
    """Return the nodes of what people ruled, in the order of names, and of what a model judged."""
    rulings = [_ruling_row(named, one) for named, one in sorted(ruled.items())]
    return [*rulings, *map(_judgment_row, judged)]


def _ruling_row(named: Named, ruling: Ruling) -> Row:
    key, kind = named
    into_key, into_type = ruling.into or (None, None)
    own: Row = {"id": ruling_id(named), "key": key, "type": kind, "apart": ruling.apart}
    return own | {"into_key": into_key, "into_type": into_type}


def _judgment_row(judgment: Judgment) -> Row:
    (key, kind), (other, _) = judgment.pair
    id_ = f"{ruling_id(judgment.one)}:{digest(other)}"
    return {"id": id_, "key": key, "type": kind, "other_key": other, "same": judgment.same}
