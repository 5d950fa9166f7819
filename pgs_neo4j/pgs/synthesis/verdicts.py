"""Adds the results of the checks to the answer's own bullets on absences.

A model, or the extractive reader, may state an absence that a check contradicts. So every bullet of
the section Absences ends with the result of its check. The text is rewritten while it streams.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from pgs_neo4j.export.judge import Judge
from pgs_neo4j.model import CheckedAbsence, Synthesis
from pgs_neo4j.pgs.synthesis.prompt import SECTIONS
from pgs_neo4j.text.markdown import LONGEST_HEADING, bullets, is_heading, opened_section, sections

SECTION = "absences"
_BULLET = re.compile(r"\s*(?:[-*•+]|\d{1,3}[.)])\s+")


class VerdictFilter:
    """Rewrites a streamed answer, with a verdict at the end of each bullet on an absence.

    In other sections, text passes at once, but a line that may become a heading waits for its end.
    ``names`` has the spellings of all sections, by name.
    """

    def __init__(
        self,
        absences: Sequence[CheckedAbsence],
        section: str = SECTION,
        names: Mapping[str, tuple[str, ...]] = SECTIONS,
    ) -> None:
        self._judge = Judge(absences)
        self._section = section
        self._names = names
        self._line = ""  # the part of an unfinished line that was not passed on
        self._passed = False  # whether the beginning of the line was passed on
        self._inside = False
        self._bullet: list[str] = []

    def pass_on(self, piece: str) -> str:
        """Take the next piece, and return the text that may be shown now."""
        *lines, self._line = (self._line + piece).split("\n")
        parts = [self._take(f"{line}\n") for line in lines]
        if not self._inside and (self._passed or not may_open(self._line, self._names)):
            parts.append(self._line)
            self._passed = self._passed or bool(self._line)
            self._line = ""
        return "".join(parts)

    def end(self) -> str:
        """Return the rest of the text, at the end of the answer."""
        last = self._take(self._line) if self._line else ""
        self._line = ""
        return last + self._finish_bullet()

    def _take(self, line: str) -> str:
        """Take a finished line, and return the text that may be shown now."""
        passed, self._passed = self._passed, False
        if passed:
            return line
        name = opened_section(line, self._names)
        if name is not None or (self._inside and is_heading(line)):
            before = self._finish_bullet()
            self._inside = name == self._section
            return before + line
        if not self._inside:
            return line
        if not line.strip():
            return self._finish_bullet() + line
        before = self._finish_bullet() if _BULLET.match(line) else ""
        self._bullet.append(line)
        return before

    def _finish_bullet(self) -> str:
        lines, self._bullet = self._bullet, []
        text = "".join(lines)
        listed = _BULLET.match(text) is not None
        verdict = self._judge.verdict(_BULLET.sub("", text, count=1), listed=listed) if text else ""
        body = text.rstrip()
        return f"{body}{verdict}{text[len(body) :]}" if verdict else text


def judged(synthesis: Synthesis, absences: Sequence[CheckedAbsence]) -> Synthesis:
    """Add a verdict to each bullet on an absence, unless the synthesis already has verdicts."""
    if synthesis.judged or not synthesis.text:
        return synthesis
    verdicts = VerdictFilter(absences)
    text = verdicts.pass_on(synthesis.text) + verdicts.end()
    stated = bullets(sections(text, SECTIONS).get(SECTION, ""))
    return replace(synthesis, text=text, absences=tuple(stated), judged=True)


def may_open(line: str, names: Mapping[str, tuple[str, ...]]) -> bool:
    """Return whether an unfinished line may become the heading of a section."""
    text = line.lstrip()
    if len(line) > LONGEST_HEADING or _BULLET.match(line):
        return False
    if not text or not text[0].isalpha():
        return True
    spellings = (spelling for known in names.values() for spelling in known)
    start = text.lower().rstrip(" :")
    return any(spelling.startswith(start) for spelling in spellings)
