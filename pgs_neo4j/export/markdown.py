"""An answer as a Markdown file: the model's text, then its evidence."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import TypeVar

from pgs_neo4j.export import figures, wording
from pgs_neo4j.export.document import Document, SourceNode
from pgs_neo4j.export.written import inert, inert_blocks, inert_line
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

T = TypeVar("T")
Bullet = Callable[[str, int], str]


def to_markdown(document: Document) -> str:
    """Render a document as Markdown."""
    answer = document.answer
    checks = answer.crosscheck
    bullet = _bullets(answer)
    sections = [
        [f"# {inert(answer.question) or 'Question'}"],
        [f"Asked {inert(document.asked_at)} of the graph {inert(answer.graph)}."],
        [_answer(answer) or wording.NO_SYNTHESIS],
        ["## Sources", "", *source_lines(document)],
        *_titled("Invalid citations", map(_invalid, _invalid_ones(answer))),
        *_titled(wording.ABSENCES, _absences(checks.absences, bullet)),
        *_titled(wording.OPPORTUNITIES, _lines(_opportunity, checks.opportunities, bullet)),
        *_titled(wording.FLAGS, _lines(_flag, checks.flags, bullet)),
        *_titled(wording.CONVERGENCES, _lines(_convergence, checks.convergences, bullet)),
        *_titled(
            wording.IN_DOUBT, (f"- {inert(wording.doubt_line(one))}" for one in answer.in_doubt)
        ),
        *_titled(wording.STRUCK, (f"- {inert(wording.doubt_line(one))}" for one in answer.struck)),
        ["## Coverage and cost", "", *_figures(answer)],
        *_titled("Partitions", () if answer.shown else _areas(document)),
        *_titled("Notes", (f"- {inert(note)}" for note in figures.notes(answer))),
    ]
    return "\n\n".join("\n".join(lines) for lines in sections) + "\n"


def _lines(
    draw: Callable[[T, Bullet], list[str]], items: Iterable[T], bullet: Bullet
) -> Iterator[str]:
    return (line for item in items for line in draw(item, bullet))


def _figures(answer: Answer) -> list[str]:
    return [f"- {name}: {inert(text)}" for name, text in figures.figures(answer)]


def _titled(title: str, lines: Iterable[str]) -> list[list[str]]:
    """Return a section, or nothing if there are no lines."""
    body = list(lines)
    return [[f"## {title}", "", *body]] if body else []


def source_lines(document: Document) -> list[str]:
    """Return a list of the cited nodes, each with the name by which it is cited."""
    nodes = {(source.partition, source.alias): source for source in document.sources}
    citations = distinct(document.answer.synthesis.citations)
    valid = [citation for citation in citations if citation.valid]
    if not valid:
        return [wording.NO_CITATION]
    return [_source(citation, nodes.get(place_of(citation))) for citation in valid]


def _source(citation: Citation, node: SourceNode | None) -> str:
    title, key = (node.title, node.key) if node else (citation.title or "", citation.node or "")
    line = f"- {_name(citation)}  {inert(title) or 'untitled'}"
    labels = node.labels if node and node.text is not None else citation.labels
    about = wording.about_node(labels, key, title)
    line += f" ({inert(about)})" if about else ""
    if node is not None and node.text is None:
        return f"{line}, {wording.GONE}"
    return f"{line}, {wording.CHANGED}" if node and node.changed else line


def _invalid_ones(answer: Answer) -> list[Citation]:
    return [citation for citation in distinct(answer.synthesis.citations) if not citation.valid]


def _invalid(citation: Citation) -> str:
    return f"- {_name(citation)}  ({wording.invalid_words(citation.partition)})"


def _absences(absences: Sequence[CheckedAbsence], bullet: Bullet) -> list[str]:
    if not absences:
        return []
    head = ("absence", "reported by", "status", "found in", "search")
    rows = [
        (
            bullet(absence.text, wording.alias_partition(absence)),
            ", ".join(f"P{number}" for number in absence.partitions) or _nobody(absence),
            f"{absence.status}: {wording.STATUS_WORDS[absence.status]}",
            _sightings(absence),
            inert(wording.search_line(absence)),
        )
        for absence in absences
    ]
    return [f"| {' | '.join(cells)} |" for cells in (head, ("---",) * len(head), *rows)]


def _nobody(absence: CheckedAbsence) -> str:
    return "the answer" if absence.reported else "none"


def _sightings(absence: CheckedAbsence) -> str:
    listed = "; ".join(map(_sighting, absence.sightings))
    return f"{listed}{wording.more_sightings(absence)}" or "none"


def _sighting(sighting: Sighting) -> str:
    name = name_of(sighting.partition, inert(sighting.alias))
    return f"{name} {inert(sighting.title, 120)} ({wording.sighting_state(sighting)})"


def _opportunity(flag: ChasedFlag, bullet: Bullet) -> list[str]:
    lines = [f"- {wording.flag_course(flag)}: {bullet(flag.text, flag.source)}"]
    if flag.absent is not None:
        absent = bullet(flag.absent.text, flag.absent.partition)
        lines.append(f"    - {wording.reported_missing(flag)}: {absent}")
    return lines


def _flag(flag: ChasedFlag, bullet: Bullet) -> list[str]:
    text = bullet(flag.text, flag.source)
    first = f"- {wording.flag_course(flag)}: {text} ({wording.flag_outcome(flag)})"
    return [first, *(f"    - {_stated(stated, bullet)}" for stated in flag.answers)]


def _convergence(convergence: Convergence, bullet: Bullet) -> list[str]:
    heading = f"- {wording.convergence_heading(convergence)}:"
    return [heading, *(f"    - {_stated(stated, bullet)}" for stated in convergence.findings)]


def _areas(document: Document) -> list[str]:
    return [f"- {inert(figures.area_line(area))}" for area in document.areas]


def _stated(stated: Stated, bullet: Bullet) -> str:
    return f"P{stated.partition}: {bullet(stated.text, stated.partition)}"


def _name(citation: Citation) -> str:
    return name_of(citation.partition, inert(citation.alias))


def _answer(answer: Answer) -> str:
    draw = partial(_group, titles=cited_titles(answer.synthesis.citations))
    return inert_blocks(answer.text, draw, quoted=wording.quotes_only(answer, synthesis=True))


def _bullets(answer: Answer) -> Bullet:
    """Return a writer of report bullets, with the titles of what the reports cite."""
    draw = partial(_group, titles=cited_titles(reported_citations(answer)))
    quoted = wording.quotes_only(answer, synthesis=False)
    return lambda text, partition: inert_line(text, draw, partition, quoted=quoted)


def _group(group: tuple[Cited, ...], titles: dict[Place, str]) -> str:
    """Return a group of citations by title; those without one by alias."""
    names = (titles.get(cited.place) or name_of(*cited.place) for cited in group)
    written = ", ".join(map(inert, names))
    # A list entry that begins with [x] is a box to tick for some renderers.
    return f"({written})" if len(written) == 1 else f"[{written}]"
