"""The table of absences and partitions: who reports it, and where it was seen after all."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from pgs_neo4j.export import facts
from pgs_neo4j.export.markup import EMPTY, Html, element, joined
from pgs_neo4j.export.picture import partition_link
from pgs_neo4j.export.register import Register, place_of_sighting
from pgs_neo4j.model import CheckedAbsence, Sighting
from pgs_neo4j.text.mentions import name_of
from pgs_neo4j.text.shown import counted, one_line

COLUMNS = 40  # of partitions; with more they are listed in each row instead
REPORTS, READ, UNREAD = "○", "●", "◇"
MARKS = {REPORTS: "reports it absent", READ: "seen, read", UNREAD: "seen, not read"}


def absences(found: Sequence[CheckedAbsence], nodes: Register, opened: Collection[int]) -> Html:
    """All checked absences, with a column for each partition that reports or holds one."""
    if not found:
        return element("p", "No absence was reported.", class_="note")
    columns = sorted({number for each in found for number in _concerned(each)})
    wide = len(columns) <= COLUMNS
    shown = columns if wide else []
    head = [
        element("th", "Absence", scope="col"),
        *(
            element("th", partition_link(number, opened), scope="col", class_="mark")
            for number in shown
        ),
    ]
    rows = [element("tr", *_row(each, nodes, shown, opened, listed=not wide)) for each in found]
    table = element(
        "table", element("thead", element("tr", *head)), element("tbody", *rows), class_="matrix"
    )
    # A region that scrolls must be reachable with the keyboard.
    region = element(
        "div", table, class_="scroll", tabindex="0", role="region", aria_label="Checked absences"
    )
    return joined((region, _legend() if wide else EMPTY))


def _concerned(absence: CheckedAbsence) -> set[int]:
    return {*absence.partitions, *(seen.partition for seen in absence.sightings)}


def _row(
    absence: CheckedAbsence,
    nodes: Register,
    columns: Sequence[int],
    opened: Collection[int],
    *,
    listed: bool,
) -> list[Html]:
    badge = element("span", str(absence.status), class_=f"badge {absence.status}")
    said = element("div", nodes.line(absence.text, facts.speaker(absence)), " ", badge)
    reporters = _reporters(absence, opened) if listed else EMPTY
    first = element("th", said, _how(absence), reporters, _sightings(absence, nodes), scope="row")
    seen: dict[int, list[Sighting]] = {}
    for each in absence.sightings:
        seen.setdefault(each.partition, []).append(each)
    reporting = set(absence.partitions)
    marks = (_mark(number in reporting, seen.get(number, ()), nodes) for number in columns)
    return [first, *marks]


def _mark(reports: bool, seen: Sequence[Sighting], nodes: Register) -> Html:
    marks: list[Html] = [_sign(REPORTS, "reports")] if reports else []
    for read, sign, kind in ((True, READ, "seen-read"), (False, UNREAD, "seen-unread")):
        first = next((each for each in seen if each.read is read), None)
        if first is not None:
            marks.append(nodes.button(place_of_sighting(first), _sign(sign, kind)))
    return element("td", *marks, class_="mark")


def _sign(sign: str, kind: str) -> Html:
    return element("span", sign, class_=kind, role="img", aria_label=MARKS[sign])


def _how(absence: CheckedAbsence) -> Html:
    terms = ", ".join(f"“{one_line(term, 60)}”" for term in absence.terms)
    looked = f"{counted(absence.searched, 'node')} searched" if absence.searched else "Not searched"
    by = f" by {one_line(absence.method, 80)}" if absence.method else ""
    held = f"; {counted(absence.count, 'node')} {_hold(absence.count)}" if absence.searched else ""
    text = f"{looked}{by}{f' for {terms}' if terms else ''}{held}."
    return element("div", text, class_="meta")


def _hold(count: int) -> str:
    return "holds it" if count == 1 else "hold it"


def _reporters(absence: CheckedAbsence, opened: Collection[int]) -> Html:
    names = joined((partition_link(each, opened) for each in absence.partitions), ", ")
    return element("div", "Reported by ", names, ".", class_="meta")


def _sightings(absence: CheckedAbsence, nodes: Register) -> Html:
    if not absence.sightings:
        return EMPTY
    shown = joined((_sighting(each, nodes) for each in absence.sightings), "; ")
    more = absence.count - len(absence.sightings)
    rest = f"; and {more:,} more" if more > 0 else ""
    return element("div", "Seen in ", shown, f"{rest}.", class_="meta")


def _sighting(seen: Sighting, nodes: Register) -> Html:
    button = nodes.button(place_of_sighting(seen), name_of(seen.partition, seen.alias))
    read = "" if seen.read else " (not read)"
    return joined((button, f" {one_line(seen.title, 80)}{read}"))


def _legend() -> Html:
    keys = (
        element("li", _sign(sign, kind), f" {MARKS[sign]}")
        for sign, kind in ((REPORTS, "reports"), (READ, "seen-read"), (UNREAD, "seen-unread"))
    )
    meanings = (
        element("li", element("span", str(status), class_=f"badge {status}"), f" {words}")
        for status, words in facts.STATUS_WORDS.items()
    )
    return element("ul", *keys, *meanings, class_="legend")
