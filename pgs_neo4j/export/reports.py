"""Renders sections of the page: checked absences, flags, convergences, doubts, and reports."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from pgs_neo4j.export import wording
from pgs_neo4j.export.document import Area
from pgs_neo4j.export.markup import EMPTY, Html, element, joined
from pgs_neo4j.export.picture import partition_link, place_id
from pgs_neo4j.export.register import Register, place_of_sighting
from pgs_neo4j.model import (
    AbsenceStatus,
    ChasedFlag,
    CheckedAbsence,
    Convergence,
    DoubtedSentence,
    Finding,
    Flag,
    Report,
    Sighting,
    Sweep,
)
from pgs_neo4j.text.citations import name_of
from pgs_neo4j.text.shown import counted, one_line, seconds, texts_note, unproven_note, used_tokens

ABOUT = 700  # Maximum characters of the titles and sentences that describe a partition.
FOLDED = 3  # Contradicted absences to show at once; more are folded away.
ORDER = (
    AbsenceStatus.CONFIRMED,
    AbsenceStatus.ELSEWHERE,
    AbsenceStatus.UNCHECKED,
    AbsenceStatus.CONTRADICTED,
)
COLUMNS = 40  # Maximum partitions with a column each; above it, each row lists its partitions.
REPORTS, READ, UNREAD = "○", "●", "◇"
MARKS = {REPORTS: "reports it missing", READ: "found, read", UNREAD: "found, not read"}


def absence_table(
    absences: Sequence[CheckedAbsence], nodes: Register, linked: Collection[int]
) -> Html:
    """Render the table of all checked absences.

    It has a column for each partition that reports an absence or has a sighting of an absence.
    ``linked`` are the partitions whose reports are on the page.
    """
    if not absences:
        return element("p", "No absence was reported.", class_="note")
    # Confirmed absences are first, since they are news. Contradicted absences are last: most of
    # them are reported in one partition although another partition contains the subject.
    absences = sorted(
        absences, key=lambda absence: (ORDER.index(absence.status), -len(absence.partitions))
    )
    partitions = sorted({number for absence in absences for number in _list_partitions(absence)})
    listed = len(partitions) > COLUMNS
    columns = [] if listed else partitions
    head = [
        element("th", "Absence", scope="col"),
        *(
            element("th", partition_link(number, linked), scope="col", class_="mark")
            for number in columns
        ),
    ]
    contradicted = [absence for absence in absences if absence.status is AbsenceStatus.CONTRADICTED]
    folded = contradicted if len(contradicted) > FOLDED else []
    open_ones = absences[: len(absences) - len(folded)]

    def table(part: Sequence[CheckedAbsence], label: str) -> Html:
        rows = (
            element("tr", *_render_row(absence, nodes, columns, linked, listed=listed))
            for absence in part
        )
        return _render_scrolling_table(head, rows, label) if part else EMPTY

    summary = element("summary", counted(len(folded), "contradicted absence"))
    rest = element("details", summary, table(folded, "Contradicted absences")) if folded else EMPTY
    return joined((table(open_ones, wording.ABSENCES), rest, EMPTY if listed else _render_legend()))


def _render_scrolling_table(head: Iterable[Html], rows: Iterable[Html], label: str) -> Html:
    """Render a table in a region that scrolls and can get the keyboard focus."""
    table = element(
        "table", element("thead", element("tr", *head)), element("tbody", *rows), class_="matrix"
    )
    return element("div", table, class_="scroll", tabindex="0", role="region", aria_label=label)


def _list_partitions(absence: CheckedAbsence) -> set[int]:
    return {*absence.partitions, *(sighting.partition for sighting in absence.sightings)}


def _render_row(
    absence: CheckedAbsence,
    nodes: Register,
    columns: Sequence[int],
    linked: Collection[int],
    *,
    listed: bool,
) -> list[Html]:
    badge = element("span", str(absence.status), class_=f"badge {absence.status}")
    text = nodes.line(absence.text, wording.alias_partition(absence))
    head = element(
        "th",
        element("div", text, " ", badge),
        element("div", wording.search_line(absence), class_="meta"),
        _render_reporters(absence, linked) if listed else EMPTY,
        _render_sightings(absence, nodes),
        scope="row",
    )
    sightings: dict[int, list[Sighting]] = {}
    for sighting in absence.sightings:
        sightings.setdefault(sighting.partition, []).append(sighting)
    reporting = set(absence.partitions)
    marks = (
        _render_mark(number in reporting, sightings.get(number, ()), nodes) for number in columns
    )
    return [head, *marks]


def _render_mark(reports: bool, sightings: Sequence[Sighting], nodes: Register) -> Html:
    marks: list[Html] = [_render_sign(REPORTS, "reports")] if reports else []
    for read, sign, kind in ((True, READ, "seen-read"), (False, UNREAD, "seen-unread")):
        first = next((sighting for sighting in sightings if sighting.read is read), None)
        if first is not None:
            marks.append(nodes.button(place_of_sighting(first), _render_sign(sign, kind)))
    return element("td", *marks, class_="mark")


def _render_sign(sign: str, kind: str) -> Html:
    return element("span", sign, class_=kind, role="img", aria_label=MARKS[sign])


def _render_reporters(absence: CheckedAbsence, linked: Collection[int]) -> Html:
    names = joined((partition_link(number, linked) for number in absence.partitions), ", ")
    return element("div", "Reported by ", names, ".", class_="meta")


def _render_sightings(absence: CheckedAbsence, nodes: Register) -> Html:
    if not absence.sightings:
        return EMPTY
    named = joined((_render_sighting(sighting, nodes) for sighting in absence.sightings), "; ")
    return element("div", "Found in ", named, f"{wording.more_sightings(absence)}.", class_="meta")


def _render_sighting(sighting: Sighting, nodes: Register) -> Html:
    name = name_of(sighting.partition, sighting.alias)
    button = nodes.button(place_of_sighting(sighting), name)
    state = wording.sighting_state(sighting)
    return joined((button, f" {one_line(sighting.title, 80)} ({state})"))


def _render_legend() -> Html:
    keys = (
        element("li", _render_sign(sign, kind), f" {MARKS[sign]}")
        for sign, kind in ((REPORTS, "reports"), (READ, "seen-read"), (UNREAD, "seen-unread"))
    )
    meanings = (
        element("li", element("span", str(status), class_=f"badge {status}"), f" {words}")
        for status, words in wording.STATUS_WORDS.items()
    )
    return element("ul", *keys, *meanings, class_="legend")


def opportunities(flags: Sequence[ChasedFlag], nodes: Register, linked: Collection[int]) -> Html:
    """Render the flags whose target partition reports that the same thing is missing."""
    return element(
        "ul", *(_render_opportunity(flag, nodes, linked) for flag in flags), class_="cards"
    )


def _render_opportunity(flag: ChasedFlag, nodes: Register, linked: Collection[int]) -> Html:
    absent = EMPTY
    if flag.absent is not None:
        text = nodes.line(flag.absent.text, flag.absent.partition)
        absent = element("p", f"{wording.reported_missing(flag)}: ", text, class_="absent")
    return element("li", _render_course(flag, linked), " ", _render_flag_text(flag, nodes), absent)


def chased_flags(flags: Sequence[ChasedFlag], nodes: Register, linked: Collection[int]) -> Html:
    """Render all flags, each with the findings of its target partition that match it."""
    return element(
        "ul", *(_render_chased_flag(flag, nodes, linked) for flag in flags), class_="cards"
    )


def _render_chased_flag(flag: ChasedFlag, nodes: Register, linked: Collection[int]) -> Html:
    kind = "open" if not flag.swept else "answered" if flag.answers else "silent"
    badge = element("span", wording.flag_outcome(flag), class_=f"badge {kind}")
    answers = element("ul", *(element("li", nodes.finding(stated)) for stated in flag.answers))
    return element(
        "li", _render_course(flag, linked), " ", _render_flag_text(flag, nodes), " ", badge,
        answers if flag.answers else EMPTY,
    )  # fmt: skip


def _render_flag_text(flag: ChasedFlag, nodes: Register) -> Html:
    return nodes.line(flag.text, flag.source, flag.citations)


def _render_course(flag: ChasedFlag, linked: Collection[int]) -> Html:
    source = partition_link(flag.source, linked)
    if flag.target is None:
        return source
    return element("span", source, " → ", partition_link(flag.target, linked), class_="course")


def convergences(met: Sequence[Convergence], nodes: Register, linked: Collection[int]) -> Html:
    """Render findings of different partitions that say the same or cite connected nodes."""
    return element(
        "ul", *(_render_convergence(meeting, nodes, linked) for meeting in met), class_="cards"
    )


def _render_convergence(convergence: Convergence, nodes: Register, linked: Collection[int]) -> Html:
    names = joined((partition_link(number, linked) for number in convergence.partitions), " + ")
    how = f" {wording.CONVERGENCE_WORDS[convergence.kind]}"
    findings = (element("li", nodes.finding(stated)) for stated in convergence.findings)
    return element("li", element("span", names, class_="course"), how, element("ul", *findings))


def doubted_sentences(
    doubted: Sequence[DoubtedSentence], nodes: Register, said: str = "In doubt"
) -> Html:
    """Render sentences that are in doubt or struck, each with the reason."""
    return element(
        "ul",
        *(
            element(
                "li",
                nodes.line(sentence.text, sentence.partition or 0),
                element("div", f"{said}: {one_line(sentence.reason, 300)}.", class_="meta warn"),
            )
            for sentence in doubted
        ),
    )


def sweep_reports(sweeps: Sequence[Sweep], areas: Mapping[int, Area], nodes: Register) -> Html:
    """Render the report on each partition, folded until a reader opens it.

    ``areas`` are the partitions by id.
    """
    seen: set[int] = set()
    parts = []
    for sweep in sweeps:
        first = sweep.partition not in seen
        seen.add(sweep.partition)
        area = areas.get(sweep.partition)
        parts.append(_render_sweep(sweep, area, nodes, first=first))
    return joined(parts)


def _render_sweep(sweep: Sweep, area: Area | None, nodes: Register, *, first: bool) -> Html:
    words = one_line(", ".join(area.topics if area else ()), 90)
    badge = element("span", wording.SWEEP_WORDS[sweep.status], class_=f"badge {sweep.status}")
    summary = element(
        "summary", element("span", f"P{sweep.partition}", class_="part"), " ",
        element("span", words, class_="keywords"), " ", badge,
        element("span", _format_tally(sweep.report), class_="tally"),
    )  # fmt: skip
    # The content has the id, because a link to the content of a closed ``details`` element opens
    # this element.
    report = _render_report(sweep.report, nodes) if sweep.report else EMPTY
    content = element(
        "div", _render_about(area), _render_reading(sweep), report,
        id=place_id(sweep.partition) if first else None, class_="report",
    )  # fmt: skip
    return element("details", summary, content)


def _render_about(area: Area | None) -> Html:
    """Render titles and typical sentences of a partition."""
    if area is None or not (area.titles or area.abstract):
        return EMPTY
    central = f"Central: {'; '.join(area.titles)}. " if area.titles else ""
    return element("p", one_line(central + area.abstract, ABOUT), class_="reading")


def _format_tally(report: Report | None) -> str:
    if report is None:
        return " no report"
    unsupported = sum(not finding.supported for finding in report.findings)
    misquotes = sum(not quote.found for finding in report.findings for quote in finding.quotes)
    parts = [counted(len(report.findings), "finding")]
    parts += [f"{unsupported} unsupported"] if unsupported else []
    parts += [counted(misquotes, "misquote")] if misquotes else []
    return f" {', '.join(parts)}"


def _render_reading(sweep: Sweep) -> Html:
    passes = f"{sweep.passes_accepted} of {counted(sweep.passes, 'pass', 'passes')} accepted"
    wave = "" if sweep.wave <= 1 else "; swept because of flags"
    text = (
        f"{sweep.nodes_read:,} of {counted(sweep.nodes, 'node')} read in this run"
        f"{texts_note(sweep.nodes_read, sweep.texts_read)}"
        f"{unproven_note(sweep.nodes_unproven)}; {passes}; "
        f"{used_tokens(sweep.usage)}; {seconds(sweep.seconds)}{wave}."
    )
    errors = (element("p", one_line(error, 400), class_="note") for error in sweep.errors)
    return joined((element("p", text, class_="meta"), *errors))


def _render_report(report: Report, nodes: Register) -> Html:
    number = report.partition
    parts = {
        "Findings": [_render_finding(finding, number, nodes) for finding in report.findings],
        "Outbound flags": [_render_flag(flag, number, nodes) for flag in report.flags],
        "Absences": [
            element("li", nodes.line(absence.text, number)) for absence in report.absences
        ],
    }
    state = element("p", nodes.line(report.domain_state, number)) if report.domain_state else EMPTY
    lists = (
        joined((element("h3", title), element("ul", *items)))
        for title, items in parts.items()
        if items
    )
    return joined((state, *lists))


def _render_finding(finding: Finding, partition: int, nodes: Register) -> Html:
    marks: list[str] = []
    if not finding.supported:
        marks += [" ", element("span", "unsupported", class_="badge warn")]
    marks += [
        element("div", f"Misquoted: no node it cites contains “{one_line(quote.text, 300)}”.",
                class_="meta warn")
        for quote in finding.quotes
        if not quote.found
    ]  # fmt: skip
    marks += [
        element("div", f"In doubt: {one_line(reason, 300)}.", class_="meta warn")
        for reason in finding.doubts
    ]
    return element("li", nodes.line(finding.text, partition, finding.citations), *marks)


def _render_flag(flag: Flag, partition: int, nodes: Register) -> Html:
    target = f"P{flag.target}: " if flag.target is not None else ""
    return element("li", target, nodes.line(flag.text, partition, flag.citations))
