"""What the reports say, partition by partition, and where they meet."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from pgs_neo4j.export import facts
from pgs_neo4j.export.document import Area
from pgs_neo4j.export.markup import EMPTY, Html, element, joined
from pgs_neo4j.export.picture import partition_link, place_id
from pgs_neo4j.export.register import Register
from pgs_neo4j.model import ChasedFlag, Convergence, Finding, Flag, Report, Sweep
from pgs_neo4j.text.shown import counted, one_line, seconds


def opportunities(flags: Sequence[ChasedFlag], nodes: Register, opened: Collection[int]) -> Html:
    """Flags whose target reports the very thing absent."""
    return element("ul", *(_opportunity(flag, nodes, opened) for flag in flags), class_="cards")


def chased(flags: Sequence[ChasedFlag], nodes: Register, opened: Collection[int]) -> Html:
    """All flags, and what the reports of their targets say."""
    return element("ul", *(_chased(flag, nodes, opened) for flag in flags), class_="cards")


def convergences(found: Sequence[Convergence], nodes: Register, opened: Collection[int]) -> Html:
    """Findings of different partitions that meet."""
    return element("ul", *(_convergence(each, nodes, opened) for each in found), class_="cards")


def sweeps(found: Sequence[Sweep], areas: Mapping[int, Area], nodes: Register) -> Html:
    """The report on each partition, closed until somebody opens it."""
    told: set[int] = set()
    parts = []
    for sweep in found:
        first = sweep.partition not in told
        told.add(sweep.partition)
        area = areas.get(sweep.partition)
        parts.append(_sweep(sweep, area.keywords if area else (), nodes, first=first))
    return joined(parts)


def _opportunity(flag: ChasedFlag, nodes: Register, opened: Collection[int]) -> Html:
    absent = element("p", nodes.stated(flag.absent), class_="absent") if flag.absent else EMPTY
    return element("li", _course(flag, opened), " ", _flag_text(flag, nodes), absent)


def _chased(flag: ChasedFlag, nodes: Register, opened: Collection[int]) -> Html:
    kind = "open" if not flag.swept else "answered" if flag.answers else "silent"
    badge = element("span", facts.outcome(flag), class_=f"badge {kind}")
    answers = element("ul", *(element("li", nodes.finding(each)) for each in flag.answers))
    return element(
        "li", _course(flag, opened), " ", _flag_text(flag, nodes), " ", badge,
        answers if flag.answers else EMPTY,
    )  # fmt: skip


def _flag_text(flag: ChasedFlag, nodes: Register) -> Html:
    return nodes.line(flag.text, flag.source, flag.citations)


def _course(flag: ChasedFlag, opened: Collection[int]) -> Html:
    source = partition_link(flag.source, opened)
    if flag.target is None:
        return source
    return element("span", source, " → ", partition_link(flag.target, opened), class_="course")


def _convergence(found: Convergence, nodes: Register, opened: Collection[int]) -> Html:
    named = joined((partition_link(each, opened) for each in found.partitions), " + ")
    how = f" meet by {facts.KINSHIP_WORDS[found.kind]}"
    said = element("ul", *(element("li", nodes.finding(each)) for each in found.findings))
    return element("li", element("span", named, class_="course"), how, said)


def _sweep(sweep: Sweep, keywords: Sequence[str], nodes: Register, *, first: bool) -> Html:
    words = one_line(", ".join(keywords), 90)
    badge = element("span", facts.SWEEP_WORDS[sweep.status], class_=f"badge {sweep.status}")
    summary = element(
        "summary", element("span", f"P{sweep.partition}", class_="part"), " ",
        element("span", words, class_="keywords"), " ", badge,
        element("span", _tally(sweep.report), class_="tally"),
    )  # fmt: skip
    # The id is inside: a link to what is inside closed details opens them.
    inside = element(
        "div", _reading(sweep), _report(sweep.report, nodes) if sweep.report else EMPTY,
        id=place_id(sweep.partition) if first else None, class_="report",
    )  # fmt: skip
    return element("details", summary, inside)


def _tally(report: Report | None) -> str:
    if report is None:
        return " no report"
    loose = sum(not finding.supported for finding in report.findings)
    wrong = sum(not quote.found for finding in report.findings for quote in finding.quotes)
    parts = [counted(len(report.findings), "finding")]
    parts += [f"{loose} unsupported"] if loose else []
    parts += [counted(wrong, "misquote")] if wrong else []
    return f" {', '.join(parts)}"


def _reading(sweep: Sweep) -> Html:
    passes = f"{sweep.passes_accepted} of {counted(sweep.passes, 'pass', 'passes')} accepted"
    wave = "" if sweep.wave <= 1 else "; added because of flags"
    text = (
        f"{sweep.nodes_read:,} of {counted(sweep.nodes, 'node')} read in this run; {passes}; "
        f"tokens: {facts.tokens(sweep.usage)}; {seconds(sweep.seconds)}{wave}."
    )
    errors = (element("p", one_line(error, 400), class_="note") for error in sweep.errors)
    return joined((element("p", text, class_="meta"), *errors))


def _report(report: Report, nodes: Register) -> Html:
    number = report.partition
    parts = {
        "Findings": [_finding(each, number, nodes) for each in report.findings],
        "Outbound flags": [_flag(each, number, nodes) for each in report.flags],
        "Absences": [element("li", nodes.line(each.text, number)) for each in report.absences],
    }
    state = element("p", nodes.line(report.domain_state, number)) if report.domain_state else EMPTY
    lists = (
        joined((element("h4", title), element("ul", *items)))
        for title, items in parts.items()
        if items
    )
    return joined((state, *lists))


def _finding(finding: Finding, partition: int, nodes: Register) -> Html:
    marks: list[str] = []
    if not finding.supported:
        marks += [" ", element("span", "unsupported", class_="badge warn")]
    marks += [
        element("div", f"Misquoted: no node it cites holds “{one_line(quote.text, 300)}”.",
                class_="meta warn")
        for quote in finding.quotes
        if not quote.found
    ]  # fmt: skip
    return element("li", nodes.line(finding.text, partition, finding.citations), *marks)


def _flag(flag: Flag, partition: int, nodes: Register) -> Html:
    target = f"P{flag.target}: " if flag.target is not None else ""
    return element("li", target, nodes.line(flag.text, partition, flag.citations))
