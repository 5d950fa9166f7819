"""Brings reports that exceed one prompt into one, along the hierarchy above the partitions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from pgs_neo4j.calls.calls import Calls
from pgs_neo4j.calls.queue import together
from pgs_neo4j.calls.replies import Replies
from pgs_neo4j.config import PGSConfig
from pgs_neo4j.errors import BudgetError, ModelError
from pgs_neo4j.llm.protocol import LLM
from pgs_neo4j.model import Finding, Partition, Unit
from pgs_neo4j.sweeping.report import render_report
from pgs_neo4j.synthesis.condense import SYSTEM, condensed, joined, reduction_prompt
from pgs_neo4j.synthesis.sections import Section

MOST_LEVELS = 8
LEAST_GAIN = 0.95  # of the size before; what shrinks less is not condensed once more
TRIES = 2
FRAME = 400  # characters of a prompt that are neither instructions nor reports
FINDINGS = 3  # of each report, where no model could condense them

Path = tuple[int, ...]


@dataclass(slots=True)
class Reducer:
    """What reductions are made with; ``calls_made`` counts those of a model."""

    llm: LLM
    config: PGSConfig
    calls: Calls
    replies: Replies | None
    warn: Callable[[str], None]
    calls_made: int = 0
    failed: int = 0
    levels: int = 0

    async def reduced(
        self,
        question: str,
        sections: Sequence[Section],
        paths: Mapping[int, Path],
        fits: Callable[[Sequence[Section]], bool],
    ) -> list[Section]:
        """Fewer sections, until they fit or nothing more can be gained.

        ``paths`` tells for each partition the units that it stands under, from the top.
        """
        found = sorted(
            sections, key=lambda each: (paths.get(each.partitions[0], ()), each.partitions)
        )
        while not fits(found) and self.levels < MOST_LEVELS:
            groups = grouped(found, paths, self._room(question))
            made = await together([self._one(question, group) for group in groups])
            self.levels += 1
            if _size(made) > LEAST_GAIN * _size(found):
                return made if _size(made) < _size(found) else found
            found = made
        return found

    def _room(self, question: str) -> int:
        """Characters of sections that one reduction may be shown."""
        config = self.config
        room = config.max_pass_characters
        most = self.calls.pass_tokens(self.llm, config.max_pass_tokens, config.sweep_max_tokens)
        if most is not None:
            room = min(room, int(most * 2))  # cautious: any language
        return max(1, room - len(SYSTEM) - len(question) - FRAME)

    async def _one(self, question: str, group: Sequence[Section]) -> Section:
        if len(group) == 1:
            return group[0]
        prompt = reduction_prompt(question, group)
        room, effort = self.config.sweep_max_tokens, self.config.sweep_effort
        key = self.replies.key(self.llm, prompt, room, effort) if self.replies else None
        found = (await self.replies.find([key])).get(key or "") if self.replies else None
        for _ in range(TRIES):
            try:
                reply = found or await self.calls.complete(
                    self.llm, prompt, room=room, effort=effort, last=True
                )
                if reply.truncated:
                    room *= 2
                    continue
                made = condensed(reply.text, group)
            except BudgetError:
                break
            except ModelError:
                found = None
                continue
            self.calls_made += 1
            if found is not None:
                self.calls.cached(found)
            elif self.replies and key:
                await self.replies.keep([self.replies.row(key, reply)])
            return made
        self.failed += 1
        return joined("", _first(group), group)


def paths_of(partitions: Sequence[Partition], units: Sequence[Unit]) -> dict[int, Path]:
    """The units above each partition, from the top down."""
    parents = {(unit.level, unit.id): unit.parent for unit in units}
    found: dict[int, Path] = {}
    for part in partitions:
        path: list[int] = []
        level, unit = 1, part.parent
        while unit is not None:
            path.insert(0, unit)
            level, unit = level + 1, parents.get((level, unit))
        found[part.id] = tuple(path)
    return found


def grouped(
    sections: Sequence[Section], paths: Mapping[int, Path], room: int
) -> list[list[Section]]:
    """Consecutive groups that fit into ``room`` characters; where half is used up a group rather

    ends with the unit of its last section. One that is too long for any group stands alone.
    """
    groups: list[list[Section]] = [[]]
    used = 0
    for section in sections:
        size = _size([section])
        last = groups[-1][-1:] if groups[-1] else []
        crossing = bool(last) and _unit(last[0], paths) != _unit(section, paths)
        if groups[-1] and (used + size > room or (crossing and used * 2 > room)):
            groups.append([])
            used = 0
        groups[-1].append(section)
        used += size
    return groups


def _unit(section: Section, paths: Mapping[int, Path]) -> Path:
    return paths.get(section.partitions[0], ())


def _size(sections: Sequence[Section]) -> int:
    return sum(len(each.header) + len(render_report(each.qualified)) + 2 for each in sections)


def _first(group: Sequence[Section]) -> tuple[Finding, ...]:
    """The first findings of each report, as they are."""
    return tuple(finding for section in group for finding in section.qualified.findings[:FINDINGS])
