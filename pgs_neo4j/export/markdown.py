"""An answer as a Markdown file: as the model wrote it, then what stands behind it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from pgs_neo4j.export import facts
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

# What would make a link, a table cell, emphasis, code, or HTML of text that is only to be shown.
_OTHER = re.compile(r"[\\`\[\]<>|~]|&(?=[#\w])")
_SPECIAL = re.compile(rf"[*]|(?<![^\W_])_|_(?![^\W_])|{_OTHER.pattern}")


def to_markdown(document: Document) -> str:
    """The document as Markdown."""
    answer = document.answer
    nodes = {(each.partition, each.alias): each for each in document.sources}
    met = answer.crosscheck
    sections = [
        [f"# {_shown(answer.question) or 'Question'}"],
        [f"Asked {_shown(document.asked_at)} of the graph {_shown(answer.graph)}."],
        [contained(answer.text) or "There is no synthesis."],
        ["## Sources", "", *_sources(answer.synthesis.citations, nodes)],
        *_titled("Invalid citations", map(_invalid, _invalid_ones(answer))),
        *_titled("Checked absences", _absences(met.absences)),
        *_titled("Opportunities", map(_opportunity, met.opportunities)),
        *_titled("Chased flags", (line for flag in met.flags for line in _flag(flag))),
        *_titled(facts.CONVERGENCES, (line for c in met.convergences for line in _meeting(c))),
        ["## Coverage and cost", "", *_figures(answer)],
        *_titled("Partitions", _areas(document)),
        *_titled("Notes", (f"- {_md(note)}" for note in facts.notes(answer))),
    ]
    return "\n\n".join("\n".join(lines) for lines in sections) + "\n"


def _figures(answer: Answer) -> list[str]:
    return [f"- {name}: {_md(text)}" for name, text in facts.figures(answer)]


def _titled(title: str, lines: Iterable[str]) -> list[list[str]]:
    """A section, or nothing where there are no lines."""
    found = list(lines)
    return [[f"## {title}", "", *found]] if found else []


def _sources(citations: Sequence[Citation], nodes: dict[Place, SourceNode]) -> list[str]:
    valid = [each for each in distinct(citations) if each.valid]
    if not valid:
        return ["The answer cites no node."]
    return [_source(each, nodes.get(place_of(each))) for each in valid]


def _source(citation: Citation, node: SourceNode | None) -> str:
    title, key = (node.title, node.key) if node else (citation.title or "", citation.node or "")
    line = f"- {_name(citation)}  {_shown(title) or 'untitled'}"
    line += f" ({_shown(key)})" if key else ""
    if node is not None and node.text is None:
        return f"{line}, gone from the graph since"
    return f"{line}, changed since it was read" if node and node.changed else line


def _invalid_ones(answer: Answer) -> list[Citation]:
    return [each for each in distinct(answer.synthesis.citations) if not each.valid]


def _invalid(citation: Citation) -> str:
    return f"- {_name(citation)}  (no report cites such a node)"


def _absences(absences: Sequence[CheckedAbsence]) -> list[str]:
    if not absences:
        return []
    head = ("absence", "reported by", "status", "seen in", "nodes searched", "how")
    rows = [
        (
            _said(each.text, facts.speaker(each)),
            ", ".join(f"P{partition}" for partition in each.partitions) or "none",
            f"{each.status}: {facts.STATUS_WORDS[each.status]}",
            _seen(each),
            f"{each.searched:,}",
            _how(each),
        )
        for each in absences
    ]
    return [f"| {' | '.join(cells)} |" for cells in (head, ("---",) * len(head), *rows)]


def _seen(absence: CheckedAbsence) -> str:
    listed = "; ".join(map(_sighting, absence.sightings))
    more = absence.count - len(absence.sightings)
    return f"{listed}; and {more:,} more" if listed and more > 0 else listed or "none"


def _sighting(seen: Sighting) -> str:
    read = "read" if seen.read else "not read"
    return f"{name_of(seen.partition, _shown(seen.alias))} {_shown(seen.title, 120)} ({read})"


def _how(absence: CheckedAbsence) -> str:
    terms = ", ".join(f"“{_shown(term)}”" for term in absence.terms)
    return f"{_shown(absence.method) or 'unknown'}{f': {terms}' if terms else ''}"


def _opportunity(flag: ChasedFlag) -> str:
    absent = f"; {_stated(flag.absent)}" if flag.absent else ""
    return f"- P{flag.source} suspects in P{flag.target}: {_said(flag.text, flag.source)}{absent}"


def _flag(flag: ChasedFlag) -> list[str]:
    target = f"P{flag.target}" if flag.target is not None else "no partition"
    first = f"- P{flag.source} to {target}, {facts.outcome(flag)}: {_said(flag.text, flag.source)}"
    return [first, *(f"  - {_stated(each)}" for each in flag.answers)]


def _meeting(convergence: Convergence) -> list[str]:
    joined = facts.KINSHIP_WORDS[convergence.kind]
    named = ", ".join(f"P{partition}" for partition in convergence.partitions)
    return [f"- {named} meet by {joined}", *(f"  - {_stated(f)}" for f in convergence.findings)]


def _areas(document: Document) -> list[str]:
    return [
        f"- {_md(facts.area_words(each))} ({facts.STATE_WORDS[each.state]})"
        for each in document.areas
    ]


def _stated(stated: Stated) -> str:
    return f"P{stated.partition}: {_said(stated.text, stated.partition)}"


def _name(citation: Citation) -> str:
    return name_of(citation.partition, _shown(citation.alias))


def _said(text: str, partition: int) -> str:
    """A bullet of the report on a partition on one line: its emphasis stays, aliases are whole."""
    parts = []
    for piece in pieces(one_line(text), partition):
        if isinstance(piece, str):
            parts.append(_OTHER.sub(_behind_backslash, piece))
        else:
            whole = "".join(f"{c.before}{name_of(*c.place)}{c.after}" for c in piece)
            parts.append(f"({whole[1:-1]})")  # not in square brackets, which can be a link
    return "".join(parts)


def _shown(text: str, limit: int | None = None) -> str:
    """Text of others on one line, with nothing in it that Markdown would obey."""
    return _md(one_line(text, limit))


def _md(line: str) -> str:
    return _SPECIAL.sub(_behind_backslash, line)


def _behind_backslash(match: re.Match[str]) -> str:
    return f"\\{match[0]}"
