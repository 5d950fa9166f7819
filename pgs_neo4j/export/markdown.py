"""Writes an answer as a Markdown file: the model's text, then its evidence."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import TypeVar

from pgs_neo4j.export import figures, statement, wording
from pgs_neo4j.export.document import Document, SourceNode
from pgs_neo4j.export.written import inert, inert_blocks, inert_code, inert_line
from pgs_neo4j.model import (
    Answer,
    ChasedFlag,
    CheckedAbsence,
    Citation,
    Convergence,
    Sighting,
    Stated,
)
from pgs_neo4j.text.citations import (
    Cited,
    Place,
    cited_titles,
    distinct,
    name_of,
    place_of,
    reported_citations,
)
from pgs_neo4j.text.clauses import break_clauses

T = TypeVar("T")
Bullet = Callable[[str, int], str]


def to_markdown(document: Document) -> str:
    """Render a document as Markdown."""
    answer = document.answer
    checks = answer.crosscheck
    bullet = _make_bullet_writer(answer)
    sections = [
        [f"# {inert(answer.question) or 'Question'}"],
        [f"Asked {inert(document.asked_at)} of the graph {inert(answer.graph)}."],
        [_write_answer(answer) or wording.NO_SYNTHESIS],
        *_write_section(statement.TITLE, _write_statement(answer)),
        ["## Sources", "", *source_lines(document)],
        *_write_section("Invalid citations", map(_write_invalid, _list_invalid(answer))),
        *_write_section(wording.ABSENCES, _write_absences(checks.absences, bullet)),
        *_write_section(
            wording.OPPORTUNITIES, _write_lines(_write_opportunity, checks.opportunities, bullet)
        ),
        *_write_section(wording.FLAGS, _write_lines(_write_flag, checks.flags, bullet)),
        *_write_section(
            wording.CONVERGENCES, _write_lines(_write_convergence, checks.convergences, bullet)
        ),
        *_write_section(
            wording.IN_DOUBT,
            (f"- {inert(wording.doubt_line(doubted))}" for doubted in answer.in_doubt),
        ),
        *_write_section(
            wording.STRUCK, (f"- {inert(wording.doubt_line(struck))}" for struck in answer.struck)
        ),
        ["## Coverage and cost", "", *_write_figures(answer)],
        *_write_section("Partitions", () if answer.shown else _write_areas(document)),
        *_write_section("Notes", (f"- {inert(note)}" for note in figures.notes(answer))),
    ]
    return "\n\n".join("\n".join(lines) for lines in sections) + "\n"


def _write_lines(
    draw: Callable[[T, Bullet], list[str]], items: Iterable[T], bullet: Bullet
) -> Iterator[str]:
    return (line for item in items for line in draw(item, bullet))


def _write_figures(answer: Answer) -> list[str]:
    return [f"- {name}: {inert(text)}" for name, text in figures.figures(answer)]


def _write_section(title: str, lines: Iterable[str]) -> list[list[str]]:
    """Return a list with one section; an empty list if there are no lines."""
    body = list(lines)
    return [[f"## {title}", "", *body]] if body else []


def _write_statement(answer: Answer) -> Iterator[str]:
    """Yield the statement of an answer, its first rows as a table, and notes on both."""
    read = answer.shown.rows if answer.shown else None
    if read is None:
        return
    yield inert_code(break_clauses(read.statement))
    yield ""
    if read.rows:
        head, *rows = statement.list_cells(read)
        written = [tuple(map(inert, row)) for row in (head, *rows)]
        written.insert(1, ("---",) * len(head))
        yield from (f"| {' | '.join(row)} |" for row in written)
        yield ""
    yield from (f"- {inert(note)}" for note in statement.list_notes(read))


def source_lines(document: Document) -> list[str]:
    """Write a list of the cited nodes, each preceded by its name in citations."""
    nodes = {(source.partition, source.alias): source for source in document.sources}
    citations = distinct(document.answer.synthesis.citations)
    valid = [citation for citation in citations if citation.valid]
    if not valid:
        return [wording.NO_CITATION]
    return [_write_source(citation, nodes.get(place_of(citation))) for citation in valid]


def _write_source(citation: Citation, node: SourceNode | None) -> str:
    title, key = (node.title, node.key) if node else (citation.title or "", citation.node or "")
    line = f"- {_write_name(citation)}  {inert(title) or 'untitled'}"
    labels = node.labels if node and node.text is not None else citation.labels
    about = wording.about_node(labels, key, title)
    line += f" ({inert(about)})" if about else ""
    if node is not None and node.text is None:
        return f"{line}, {wording.GONE}"
    return f"{line}, {wording.CHANGED}" if node and node.changed else line


def _list_invalid(answer: Answer) -> list[Citation]:
    return [citation for citation in distinct(answer.synthesis.citations) if not citation.valid]


def _write_invalid(citation: Citation) -> str:
    return f"- {_write_name(citation)}  ({wording.invalid_words(citation.partition)})"


def _write_absences(absences: Sequence[CheckedAbsence], bullet: Bullet) -> list[str]:
    if not absences:
        return []
    head = ("absence", "reported by", "status", "found in", "search")
    rows = [
        (
            bullet(absence.text, wording.alias_partition(absence)),
            ", ".join(f"P{number}" for number in absence.partitions) or _name_reporter(absence),
            f"{absence.status}: {wording.STATUS_WORDS[absence.status]}",
            _write_sightings(absence),
            inert(wording.search_line(absence)),
        )
        for absence in absences
    ]
    return [f"| {' | '.join(cells)} |" for cells in (head, ("---",) * len(head), *rows)]


def _name_reporter(absence: CheckedAbsence) -> str:
    return "the answer" if absence.reported else "none"


def _write_sightings(absence: CheckedAbsence) -> str:
    written = "; ".join(map(_write_sighting, absence.sightings))
    return f"{written}{wording.more_sightings(absence)}" or "none"


def _write_sighting(sighting: Sighting) -> str:
    name = name_of(sighting.partition, inert(sighting.alias))
    return f"{name} {inert(sighting.title, 120)} ({wording.sighting_state(sighting)})"


def _write_opportunity(flag: ChasedFlag, bullet: Bullet) -> list[str]:
    lines = [f"- {wording.flag_course(flag)}: {bullet(flag.text, flag.source)}"]
    if flag.absent is not None:
        absent = bullet(flag.absent.text, flag.absent.partition)
        lines.append(f"    - {wording.reported_missing(flag)}: {absent}")
    return lines


def _write_flag(flag: ChasedFlag, bullet: Bullet) -> list[str]:
    text = bullet(flag.text, flag.source)
    first = f"- {wording.flag_course(flag)}: {text} ({wording.flag_outcome(flag)})"
    return [first, *(f"    - {_write_finding(stated, bullet)}" for stated in flag.answers)]


def _write_convergence(convergence: Convergence, bullet: Bullet) -> list[str]:
    heading = f"- {wording.convergence_heading(convergence)}:"
    return [
        heading,
        *(f"    - {_write_finding(stated, bullet)}" for stated in convergence.findings),
    ]


def _write_areas(document: Document) -> list[str]:
    return [f"- {inert(figures.area_line(area))}" for area in document.areas]


def _write_finding(stated: Stated, bullet: Bullet) -> str:
    return f"P{stated.partition}: {bullet(stated.text, stated.partition)}"


def _write_name(citation: Citation) -> str:
    return name_of(citation.partition, inert(citation.alias))


def _write_answer(answer: Answer) -> str:
    draw = partial(_write_group, titles=cited_titles(answer.synthesis.citations))
    return inert_blocks(answer.text, draw, quoted=wording.quotes_only(answer, synthesis=True))


def _make_bullet_writer(answer: Answer) -> Bullet:
    """Return a function that writes report bullets with the titles of cited nodes."""
    draw = partial(_write_group, titles=cited_titles(reported_citations(answer)))
    quoted = wording.quotes_only(answer, synthesis=False)
    return lambda text, partition: inert_line(text, draw, partition, quoted=quoted)


def _write_group(group: tuple[Cited, ...], titles: dict[Place, str]) -> str:
    """Write a group of citations by their titles, or without a title by their names."""
    names = (titles.get(cited.place) or name_of(*cited.place) for cited in group)
    written = ", ".join(map(inert, names))
    # Some renderers turn a list entry that begins with [x] into a checkbox.
    return f"({written})" if len(written) == 1 else f"[{written}]"
