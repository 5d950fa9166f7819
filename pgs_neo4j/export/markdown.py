"""An answer as a Markdown file: the model's text, then its evidence."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from pgs_neo4j.export import counts, figures, wording
from pgs_neo4j.export.document import Document, SourceNode
from pgs_neo4j.export.written import contained
from pgs_neo4j.model import (
    Answer,
    ChasedFlag,
    CheckedAbsence,
    Citation,
    Convergence,
    Sighting,
    Stated,
)
from pgs_neo4j.text.mentions import Place, distinct, name_of, pieces, place_of
from pgs_neo4j.text.shown import one_line

# Characters that would turn plain text into a link, a table cell, emphasis, code, or HTML.
_OTHER = re.compile(r"[\\`\[\]<>|~]|&(?=[#\w])")
_SPECIAL = re.compile(rf"[*]|(?<![^\W_])_|_(?![^\W_])|{_OTHER.pattern}")


def to_markdown(document: Document) -> str:
    """Render a document as Markdown."""
    answer = document.answer
    nodes = {(source.partition, source.alias): source for source in document.sources}
    checks = answer.crosscheck
    sections = [
        [f"# {_inert(answer.question) or 'Question'}"],
        [f"Asked {_inert(document.asked_at)} of the graph {_inert(answer.graph)}."],
        [contained(answer.text) or wording.NO_SYNTHESIS],
        ["## Sources", "", *_sources(answer.synthesis.citations, nodes)],
        *_titled("Invalid citations", map(_invalid, _invalid_ones(answer))),
        *_titled(wording.ABSENCES, _absences(checks.absences)),
        *_titled(
            wording.OPPORTUNITIES,
            (line for flag in checks.opportunities for line in _opportunity(flag)),
        ),
        *_titled(wording.FLAGS, (line for flag in checks.flags for line in _flag(flag))),
        *_titled(
            wording.CONVERGENCES, (line for c in checks.convergences for line in _convergence(c))
        ),
        ["## Coverage and cost", "", *_figures(answer)],
        *_titled("Partitions", _areas(document)),
        *_titled("Notes", (f"- {_md(note)}" for note in figures.notes(answer))),
    ]
    return "\n\n".join("\n".join(lines) for lines in sections) + "\n"


def _figures(answer: Answer) -> list[str]:
    return [f"- {name}: {_md(text)}" for name, text in figures.figures(answer)]


def _titled(title: str, lines: Iterable[str]) -> list[list[str]]:
    """Return a section, or nothing if there are no lines."""
    body = list(lines)
    return [[f"## {title}", "", *body]] if body else []


def _sources(citations: Sequence[Citation], nodes: dict[Place, SourceNode]) -> list[str]:
    valid = [citation for citation in distinct(citations) if citation.valid]
    if not valid:
        return [wording.NO_CITATION]
    return [_source(citation, nodes.get(place_of(citation))) for citation in valid]


def _source(citation: Citation, node: SourceNode | None) -> str:
    title, key = (node.title, node.key) if node else (citation.title or "", citation.node or "")
    line = f"- {_name(citation)}  {_inert(title) or 'untitled'}"
    line += f" ({_inert(key)})" if key else ""
    if node is not None and node.text is None:
        return f"{line}, {wording.GONE}"
    return f"{line}, {wording.CHANGED}" if node and node.changed else line


def _invalid_ones(answer: Answer) -> list[Citation]:
    return [citation for citation in distinct(answer.synthesis.citations) if not citation.valid]


def _invalid(citation: Citation) -> str:
    return f"- {_name(citation)}  ({wording.INVALID_CITATION})"


def _absences(absences: Sequence[CheckedAbsence]) -> list[str]:
    if not absences:
        return []
    head = ("absence", "reported by", "status", "found in", "search")
    rows = [
        (
            _bullet(absence.text, counts.alias_partition(absence)),
            ", ".join(f"P{number}" for number in absence.partitions) or "none",
            f"{absence.status}: {wording.STATUS_WORDS[absence.status]}",
            _sightings(absence),
            _md(wording.search_line(absence)),
        )
        for absence in absences
    ]
    return [f"| {' | '.join(cells)} |" for cells in (head, ("---",) * len(head), *rows)]


def _sightings(absence: CheckedAbsence) -> str:
    listed = "; ".join(map(_sighting, absence.sightings))
    return f"{listed}{wording.more_sightings(absence)}" or "none"


def _sighting(sighting: Sighting) -> str:
    name = name_of(sighting.partition, _inert(sighting.alias))
    return f"{name} {_inert(sighting.title, 120)} ({wording.sighting_state(sighting)})"


def _opportunity(flag: ChasedFlag) -> list[str]:
    lines = [f"- {wording.flag_course(flag)}: {_bullet(flag.text, flag.source)}"]
    if flag.absent is not None:
        absent = _bullet(flag.absent.text, flag.absent.partition)
        lines.append(f"  - {wording.reported_missing(flag)}: {absent}")
    return lines


def _flag(flag: ChasedFlag) -> list[str]:
    text = _bullet(flag.text, flag.source)
    first = f"- {wording.flag_course(flag)}: {text} ({wording.flag_outcome(flag)})"
    return [first, *(f"  - {_stated(stated)}" for stated in flag.answers)]


def _convergence(convergence: Convergence) -> list[str]:
    heading = f"- {wording.convergence_heading(convergence)}:"
    return [heading, *(f"  - {_stated(stated)}" for stated in convergence.findings)]


def _areas(document: Document) -> list[str]:
    return [f"- {_md(figures.area_line(area))}" for area in document.areas]


def _stated(stated: Stated) -> str:
    return f"P{stated.partition}: {_bullet(stated.text, stated.partition)}"


def _name(citation: Citation) -> str:
    return name_of(citation.partition, _inert(citation.alias))


def _bullet(text: str, partition: int) -> str:
    """Return a report's bullet on one line, with emphasis and qualified aliases."""
    parts = []
    for piece in pieces(one_line(text), partition):
        if isinstance(piece, str):
            parts.append(_OTHER.sub(_behind_backslash, piece))
        else:
            whole = "".join(f"{c.before}{name_of(*c.place)}{c.after}" for c in piece)
            parts.append(f"({whole[1:-1]})")  # square brackets could become a link
    return "".join(parts)


def _inert(text: str, limit: int | None = None) -> str:
    """Return text on one line, with all Markdown escaped."""
    return _md(one_line(text, limit))


def _md(line: str) -> str:
    return _SPECIAL.sub(_behind_backslash, line)


def _behind_backslash(match: re.Match[str]) -> str:
    return f"\\{match[0]}"
