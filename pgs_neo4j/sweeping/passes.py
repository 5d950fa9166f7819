"""The passes over one partition: asked, asked again when cut off, checked, and recorded."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from time import perf_counter

from pgs_neo4j.calls.queue import together
from pgs_neo4j.database.connection import Row
from pgs_neo4j.errors import (
    ModelError,
    ModelOutputError,
    PromptTooLongError,
    StoppedError,
)
from pgs_neo4j.events import PassFinished
from pgs_neo4j.model import Completion, Partition, Prompt, Report, Sweep, SweepStatus, Usage
from pgs_neo4j.sweeping.context import Material, Reader, neighbors
from pgs_neo4j.sweeping.pack import Pass, halves, read_ranges
from pgs_neo4j.sweeping.report import merge_reports, parse_report, sweep_prompt

REASKS = 3  # of one pass whose reply is cut off or is no report
HALVES = tuple("".join(half) for n in range(REASKS + 1) for half in product("ab", repeat=n))
MOST_ROOM = 4  # times the usual room; after that a smaller pass is asked


@dataclass(frozen=True, slots=True)
class _Outcome:
    """What became of a pass: a report that was accepted, or why there is none.

    ``stopped``: it was not asked, since a bound of the run would have been crossed.
    """

    item: Pass
    report: Report | None = None
    error: str = ""
    stopped: bool = False


class Reading:
    """One partition being read: outcomes as they come, and one record of them all."""

    def __init__(
        self,
        reader: Reader,
        partition: Partition,
        material: Material,
        began: float,
        priority: float | None,
    ) -> None:
        self._reader, self._partition, self._material = reader, partition, material
        self._began, self._priority = began, priority
        self._ended = began  # time of the last reply, the same in the record and in the answer
        self._nodes = {node.alias: node for node in material.nodes}
        self._outcomes: list[_Outcome] = []
        self._out = {item.label for item in material.passes}
        self._prompts: dict[str, Prompt] = {}
        self._keys: dict[int, str] = {}
        self._known: dict[str, Completion] = {}
        self._rows: list[Row] = []
        self._usage = Usage()
        self._recorded = 0
        self._recording = asyncio.Lock()

    async def look_up(self) -> bool:
        """Whether any reply was paid for before, also one to a half of a pass; it is used."""
        reader = self._reader
        if reader.replies is None:
            return False
        for item in self._material.passes:
            prompt = self._prompts[item.label] = self._prompt(item)
            room, effort = reader.config.sweep_max_tokens, reader.config.sweep_effort
            if key := reader.replies.key(reader.llm, prompt, room, effort):
                self._keys[item.number] = key
        halved = [key + half for key in self._keys.values() for half in HALVES]
        self._known = await reader.replies.find(halved)
        return bool(self._known)

    async def read(self, item: Pass, room: int | None = None, reasks: int = REASKS) -> None:
        """Read a pass to its end, well or not. Raises DatabaseError, when recording fails."""
        usual = self._reader.config.sweep_max_tokens
        room = room or usual
        if self._was_halved(item):
            return await self._smaller(item, MOST_ROOM * usual, 1, "")
        try:
            if await self._reply(item, room):
                return None
            error = f"the report was cut off at {room} tokens"
        except PromptTooLongError as too_long:
            return await self._smaller(item, room, reasks, str(too_long))
        except ModelOutputError as malformed:
            error = str(malformed)
        except StoppedError as stop:
            return self._note(_Outcome(item, error=str(stop), stopped=True))
        except ModelError as failed:
            return self._note(_Outcome(item, error=str(failed)))
        if not reasks:
            return self._note(_Outcome(item, error=f"{error}, {REASKS + 1} times in a row"))
        if not error.startswith("the report was cut off"):
            return await self.read(item, room, reasks - 1)
        if room < MOST_ROOM * usual:
            return await self.read(item, 2 * room, reasks - 1)
        return await self._smaller(item, room, reasks, error)

    async def finish(self) -> Sweep:
        """The sweep with all its passes, recorded; one that was not begun is not."""
        result = self._sweep()
        if result.status is not SweepStatus.UNREAD and self._recorded < len(self._outcomes):
            await self._record()
        return result

    async def _reply(self, item: Pass, room: int) -> bool:
        """Whether a whole report came back, was accepted, and is recorded."""
        reply = self._known.pop(self._key(item), None)
        if reply is not None:
            self._reader.calls.cached(reply)
            self._usage += reply.usage
            self._accept(item, reply)
            return True
        reply = await self._reader.calls.complete(
            self._reader.llm,
            self._prompts.get(item.label) or self._prompt(item),
            room=room,
            effort=self._reader.config.sweep_effort,
            priority=self._priority,
            then=partial(self._bought, item),
        )
        return not reply.truncated

    async def _bought(self, item: Pass, reply: Completion) -> None:
        """Accept a reply that was paid for, and record it before anything else is bought."""
        self._usage += reply.usage
        if not reply.truncated:
            self._accept(item, reply)
            await self._record()

    async def _smaller(self, item: Pass, room: int, reasks: int, error: str) -> None:
        """Read a pass as two smaller ones."""
        smaller = halves(item, self._material.relationships) if reasks else ()
        if not smaller:
            return self._note(_Outcome(item, error=error))
        self._out = self._out - {item.label} | {half.label for half in smaller}
        await together([self.read(half, room, reasks - 1) for half in smaller])
        return None

    def _accept(self, item: Pass, reply: Completion) -> None:
        shown = {piece.node.alias: self._nodes[piece.node.alias] for piece in item.pieces}
        report = parse_report(
            reply.text,
            self._partition.id,
            shown,
            known_partitions=self._reader.partitions.keys(),
        )
        if self._reader.replies is not None and (key := self._key(item)) and reply.usage.calls:
            self._rows.append(self._reader.replies.row(key, reply))
        self._prompts.pop(item.label, None)
        self._note(_Outcome(item, report))

    def _note(self, outcome: _Outcome) -> None:
        self._outcomes.append(outcome)
        self._ended = perf_counter()
        self._out.discard(outcome.item.label)
        if outcome.stopped:
            return
        item, count = outcome.item, len(self._material.passes)
        self._reader.on_event(
            PassFinished(self._partition.id, item.number, count, outcome.error or None)
        )

    async def _record(self) -> None:
        # One after the other, so that what is recorded last knows all that came before.
        async with self._recording:
            if self._recorded == len(self._outcomes):
                return  # by the one before
            rows, self._rows = self._rows, []
            noted = len(self._outcomes)
            await self._reader.record(self._sweep(), rows)
            self._recorded = noted

    def _sweep(self) -> Sweep:
        """What is known so far; passes that are still out count as not accepted."""
        outcomes = sorted(self._outcomes, key=lambda each: (each.item.number, each.item.half))
        accepted = [each for each in outcomes if each.report is not None]
        reports = {each.item.label: each.report for each in accepted if each.report is not None}
        passes = len(outcomes) + len(self._out)
        return Sweep(
            partition=self._partition.id,
            status=_status(outcomes, len(accepted), passes),
            nodes=len(self._material.nodes),
            read=read_ranges(each.item for each in accepted),
            passes=passes,
            passes_accepted=len(accepted),
            report=merge_reports(self._partition.id, reports, passes) if reports else None,
            errors=tuple(each.error for each in outcomes if each.error),
            usage=self._usage,
            seconds=self._ended - self._began,
            generation=self._reader.generation,
            wave=self._reader.wave,
        )

    def _prompt(self, item: Pass) -> Prompt:
        near = neighbors(self._reader, self._partition)
        count = len(self._material.passes)
        return sweep_prompt(
            self._reader.question, self._partition, item, near, count, self._reader.known
        )

    def _key(self, item: Pass) -> str:
        """The key of a reply, that of a half by its pass; empty when replies are not kept."""
        key = self._keys.get(item.number)
        return key + item.half if key else ""

    def _was_halved(self, item: Pass) -> bool:
        """Whether there are replies to parts of a pass, and none to the whole."""
        key = self._key(item)
        if not key or key in self._known:
            return False
        return any(other.startswith(key) for other in self._known)


def _status(outcomes: Sequence[_Outcome], accepted: int, passes: int) -> SweepStatus:
    if accepted == passes:
        return SweepStatus.ACCEPTED
    if accepted:
        return SweepStatus.PARTIAL
    stopped = bool(outcomes) and all(each.stopped for each in outcomes)
    return SweepStatus.UNREAD if stopped else SweepStatus.FAILED
