"""The table of checked absences, their reporters, and their sightings."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from pgs_neo4j.export import counts, wording
from pgs_neo4j.export.markup import EMPTY, Html, element, joined
from pgs_neo4j.export.picture import partition_link
from pgs_neo4j.export.register import Register, place_of_sighting
from pgs_neo4j.model import AbsenceStatus, CheckedAbsence, Sighting
from pgs_neo4j.text.mentions import name_of
from pgs_neo4j.text.shown import counted, one_line

FOLDED = 3  # contradicted absences; with more of them, they are closed until a reader opens them
ORDER = (
    AbsenceStatus.CONFIRMED,
    AbsenceStatus.ELSEWHERE,
    AbsenceStatus.UNCHECKED,
    AbsenceStatus.CONTRADICTED,
)
COLUMNS = 40  # partitions; with more of them, each row lists its own instead
REPORTS, READ, UNREAD = "○", "●", "◇"
MARKS = {REPORTS: "reports it missing", READ: "found, read", UNREAD: "found, not read"}


def absence_table(
    absences: Sequence[CheckedAbsence], nodes: Register, linked: Collection[int]
) -> Html:
    """Return the table of all checked absences.

    It has a column for each partition that reports or contains one. ``linked`` are the partitions
    that have a place on the page.
    """
    if not absences:
        return element("p", "No absence was reported.", class_="note")
    # What nobody contradicts is news; most contradicted absences are only far from home.
    absences = sorted(absences, key=lambda one: (ORDER.index(one.status), -len(one.partitions)))
    partitions = sorted({number for absence in absences for number in _concerned(absence)})
    listed = len(partitions) > COLUMNS
    columns = [] if listed else partitions
    head = [
        element("th", "Absence", scope="col"),
        *(
            element("th", partition_link(number, linked), scope="col", class_="mark")
            for number in columns
        ),
    ]
    contradicted = [one for one in absences if one.status is AbsenceStatus.CONTRADICTED]
    folded = contradicted if len(contradicted) > FOLDED else []
    open_ones = absences[: len(absences) - len(folded)]

    def table(part: Sequence[CheckedAbsence], label: str) -> Html:
        rows = (
            element("tr", *_row(absence, nodes, columns, linked, listed=listed)) for absence in part
        )
        return _scrolled(head, rows, label) if part else EMPTY

    summary = element("summary", counted(len(folded), "contradicted absence"))
    rest = element("details", summary, table(folded, "Contradicted absences")) if folded else EMPTY
    return joined((table(open_ones, wording.ABSENCES), rest, EMPTY if listed else _legend()))


def _scrolled(head: Iterable[Html], rows: Iterable[Html], label: str) -> Html:
    """Return a table in a region that scrolls and that the keyboard reaches."""
    table = element(
        "table", element("thead", element("tr", *head)), element("tbody", *rows), class_="matrix"
    )
    return element("div", table, class_="scroll", tabindex="0", role="region", aria_label=label)


def _concerned(absence: CheckedAbsence) -> set[int]:
    return {*absence.partitions, *(sighting.partition for sighting in absence.sightings)}


def _row(
    absence: CheckedAbsence,
    nodes: Register,
    columns: Sequence[int],
    linked: Collection[int],
    *,
    listed: bool,
) -> list[Html]:
    badge = element("span", str(absence.status), class_=f"badge {absence.status}")
    text = nodes.line(absence.text, counts.alias_partition(absence))
    head = element(
        "th",
        element("div", text, " ", badge),
        element("div", wording.search_line(absence), class_="meta"),
        _reporters(absence, linked) if listed else EMPTY,
        _sightings(absence, nodes),
        scope="row",
    )
    sightings: dict[int, list[Sighting]] = {}
    for sighting in absence.sightings:
        sightings.setdefault(sighting.partition, []).append(sighting)
    reporting = set(absence.partitions)
    marks = (_mark(number in reporting, sightings.get(number, ()), nodes) for number in columns)
    return [head, *marks]


def _mark(reports: bool, sightings: Sequence[Sighting], nodes: Register) -> Html:
    marks: list[Html] = [_sign(REPORTS, "reports")] if reports else []
    for read, sign, kind in ((True, READ, "seen-read"), (False, UNREAD, "seen-unread")):
        first = next((sighting for sighting in sightings if sighting.read is read), None)
        if first is not None:
            marks.append(nodes.button(place_of_sighting(first), _sign(sign, kind)))
    return element("td", *marks, class_="mark")


def _sign(sign: str, kind: str) -> Html:
    return element("span", sign, class_=kind, role="img", aria_label=MARKS[sign])


def _reporters(absence: CheckedAbsence, linked: Collection[int]) -> Html:
    names = joined((partition_link(number, linked) for number in absence.partitions), ", ")
    return element("div", "Reported by ", names, ".", class_="meta")


def _sightings(absence: CheckedAbsence, nodes: Register) -> Html:
    if not absence.sightings:
        return EMPTY
    named = joined((_sighting(sighting, nodes) for sighting in absence.sightings), "; ")
    return element("div", "Found in ", named, f"{wording.more_sightings(absence)}.", class_="meta")


def _sighting(sighting: Sighting, nodes: Register) -> Html:
    name = name_of(sighting.partition, sighting.alias)
    button = nodes.button(place_of_sighting(sighting), name)
    state = wording.sighting_state(sighting)
    return joined((button, f" {one_line(sighting.title, 80)} ({state})"))


def _legend() -> Html:
    keys = (
        element("li", _sign(sign, kind), f" {MARKS[sign]}")
        for sign, kind in ((REPORTS, "reports"), (READ, "seen-read"), (UNREAD, "seen-unread"))
    )
    meanings = (
        element("li", element("span", str(status), class_=f"badge {status}"), f" {words}")
        for status, words in wording.STATUS_WORDS.items()
    )
    return element("ul", *keys, *meanings, class_="legend")
