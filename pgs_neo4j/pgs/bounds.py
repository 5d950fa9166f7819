"""Computes upper bounds on the calls, tokens, and cost of a run, whatever the models reply.

A reply that is cut off is requested again with more room, and a reply that breaks the contract is
requested again. After that, the pass is divided into two halves. Strict checks request one more
reply, and an overdue call may be sent twice. The bounds follow these rules call by call, so a model
that answers as badly as it can comes close to them. Two things are unpredictable and exceed the
bounds: servers that fail requests or cut prompts off, and texts with more than ``DEAR`` tokens for
each estimated token.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from pgs_neo4j.config import PGSConfig
from pgs_neo4j.llm.calls.budget import DEAR, FRAME_TOKENS, WORST, estimated_tokens
from pgs_neo4j.llm.calls.calls import Calls
from pgs_neo4j.llm.calls.outcome import PROMPT, ROOM
from pgs_neo4j.llm.protocol import LLM, is_free
from pgs_neo4j.model import PlannedMost, Prompt, Relationship
from pgs_neo4j.model.ceilings import MALFORMED_TRIES
from pgs_neo4j.pgs.sweeping.material import REASKS
from pgs_neo4j.pgs.sweeping.pack import Pass, halve_pass
from pgs_neo4j.pgs.sweeping.passes import MOST_ROOM
from pgs_neo4j.pgs.sweeping.short_report import short_prompt
from pgs_neo4j.pgs.sweeping.strict import AGAIN_CHARACTERS
from pgs_neo4j.pgs.synthesis import condense
from pgs_neo4j.pgs.synthesis.condense import FRAME, LEAST_GAIN, MOST_LEVELS
from pgs_neo4j.pgs.synthesis.prompt import OTHER_TOKENS, REPORTS_SHARE, SYSTEM
from pgs_neo4j.text.tokens import BYTES_PER_TOKEN, estimate, estimate_bytes

CHARACTER_BYTES = 4  # maximum bytes of a character in UTF-8
REPORT_TOKENS = 1.5  # estimated tokens of a rendered report for each token of its reply
AGAIN_TOKENS = estimate_bytes(AGAIN_CHARACTERS) + 1
LEVELS_SHOWN = (1 - LEAST_GAIN**MOST_LEVELS) / (1 - LEAST_GAIN)
"""Maximum length that all levels of reductions read together, as a multiple of the reports.

Another level follows only if the previous level left at most ``LEAST_GAIN`` of the text, so the
total is a geometric sum.
"""


@dataclass(frozen=True, slots=True)
class Reading:
    """The upper bounds of some reading, and the estimated tokens of the resulting reports."""

    most: PlannedMost = field(default_factory=PlannedMost)
    reports: int = 0

    def __add__(self, other: Reading) -> Reading:
        return Reading(self.most + other.most, self.reports + other.reports)


@dataclass(frozen=True, slots=True)
class Bounds:
    """Computes bounds for the models and the settings of a run."""

    calls: Calls
    config: PGSConfig
    sweep_llm: LLM
    synthesis_llm: LLM

    def of_pass(
        self,
        item: Pass,
        relationships: Sequence[Relationship],
        write_prompt: Callable[[Pass], Prompt],
    ) -> Reading:
        """Return the upper bounds of a pass without a cached reply.

        ``relationships`` are all relationships of the partition. ``write_prompt`` returns the
        prompt of a pass.
        """
        return self._bound_reading(
            item, relationships, write_prompt, self.config.sweep_max_tokens, REASKS
        )

    def of_cached(self, prompt: Prompt, output: int) -> Reading:
        """Return the upper bounds of a pass with a cached reply.

        ``output`` is the reply's length in tokens. Strict checks may request one more reply.
        """
        room = self.config.sweep_max_tokens
        most = (
            self._bound_second_request(estimated_tokens(prompt))
            if self.config.strict
            else PlannedMost()
        )
        reports = max(output, room) if self.config.strict else output
        return Reading(most, math.ceil(REPORT_TOKENS * reports))

    def of_synthesis(self, reports: int, count: int, shown: int, *, settled: bool) -> PlannedMost:
        """Return the upper bounds of combining ``count`` reports, including reductions.

        ``reports`` is the estimated tokens of all reports. ``shown`` is the estimated tokens of the
        question and of an answer from a search. ``settled`` means that a small call first
        determines the model's context.
        """
        config, llm = self.config, self.synthesis_llm
        whole = estimate(SYSTEM) + OTHER_TOKENS + shown + reports
        wanted = math.ceil(whole / REPORTS_SHARE)
        limit = self._prompt_limit(llm, config.synthesis_max_tokens)
        prompt = min(wanted, limit)
        # The first prompt of a model is reserved at its largest possible size.
        factor = DEAR if llm.name == self.sweep_llm.name else WORST
        most = self._bound_call(llm, prompt, config.synthesis_max_tokens, factor=factor)
        if config.strict:
            most += self._bound_call(llm, prompt + AGAIN_TOKENS, config.synthesis_max_tokens)
        if settled:
            most += self._bound_call(llm, estimated_tokens(PROMPT), ROOM)
        if wanted > limit:
            most += self._bound_reductions(reports, count, shown)
        return most

    def _bound_reductions(self, reports: int, count: int, shown: int) -> PlannedMost:
        """Return the upper bounds of the reductions of ``count`` reports.

        Each reduction joins at least two sections, so there are at most ``count - 1`` reductions.
        """
        room, llm = self.config.sweep_max_tokens, self.sweep_llm
        joins = max(0, count - 1)
        frame = estimate(condense.SYSTEM) + estimate_bytes(CHARACTER_BYTES * FRAME) + shown
        limit = self._prompt_limit(llm, room)
        text = min(joins * limit, math.ceil(LEVELS_SHOWN * reports))
        each = min(limit, -(-text // max(joins, 1)) + frame)
        tries = (
            self._bound_call(llm, each, room * 2**tried, longest=limit)
            for tried in range(MALFORMED_TRIES)
        )
        return sum(tries, PlannedMost()).times(joins * self._calls_at_once)

    def _bound_reading(
        self,
        item: Pass,
        relationships: Sequence[Relationship],
        write_prompt: Callable[[Pass], Prompt],
        room: int,
        reasks: int,
    ) -> Reading:
        """Return the upper bounds of a pass, by the same rules as ``PassReader.read``."""
        calls, llm, usual = self.calls, self.sweep_llm, self.config.sweep_max_tokens
        prompt = write_prompt(item)
        divided = Reading()
        if not calls.fits(llm, prompt):
            parts = halve_pass(item, relationships)
            some = (
                self._bound_reading(part, relationships, write_prompt, room, reasks)
                for part in parts
            )
            return sum(some, Reading())
        tokens = max(estimated_tokens(prompt), estimated_tokens(short_prompt(prompt)))
        most = PlannedMost()
        while True:
            granted = calls.reply_room(llm, prompt, room)
            most += self._bound_call(llm, tokens, granted)
            if not reasks:
                break
            reasks -= 1
            if granted != room or room >= MOST_ROOM * usual:
                parts = halve_pass(item, relationships)
                some = (
                    self._bound_reading(part, relationships, write_prompt, room, reasks)
                    for part in parts
                )
                divided = sum(some, Reading())
                break
            room *= 2
        most += self._bound_call(llm, tokens, granted).times(MALFORMED_TRIES - 1)
        most = most.times(self._calls_at_once)
        if not divided.most.calls and self.config.strict:
            most += self._bound_second_request(estimated_tokens(prompt))
        reports = max(divided.reports, math.ceil(REPORT_TOKENS * granted))
        return Reading(most + divided.most, reports)

    def _bound_second_request(self, tokens: int) -> PlannedMost:
        room = self.config.sweep_max_tokens
        return self._bound_call(self.sweep_llm, tokens + AGAIN_TOKENS, room).times(
            self._calls_at_once
        )

    @property
    def _calls_at_once(self) -> int:
        """How many copies of a call may be in flight: a hedged call is sent twice."""
        return 2 if self.config.hedge else 1

    def _prompt_limit(self, llm: LLM, room: int) -> int:
        """Return the maximum estimated tokens of a prompt within both limits on a pass.

        The limits are ``max_pass_characters`` and ``max_pass_tokens``.
        """
        config = self.config
        characters = math.ceil(config.max_pass_characters * CHARACTER_BYTES / BYTES_PER_TOKEN)
        most = self.calls.pass_tokens(llm, config.max_pass_tokens, room)
        return characters if most is None else min(characters, most)

    def _bound_call(
        self,
        llm: LLM,
        estimated: int,
        room: int,
        factor: float = DEAR,
        longest: int | None = None,
    ) -> PlannedMost:
        """Return the upper bounds of one call.

        ``estimated`` is the estimated tokens of its prompt, and ``room`` the maximum tokens of its
        reply. If ``estimated`` is an average of several calls, ``longest`` is the longest of their
        prompts, since prices may be higher for long prompts.
        """
        tokens = math.ceil(factor * estimated) + FRAME_TOKENS
        entry = self.calls.budget.models.get(llm.name)
        price = tokens if longest is None else math.ceil(factor * longest) + FRAME_TOKENS
        cost = entry.dearest(tokens, room, price) if entry else None
        return PlannedMost(
            calls=1,
            input_tokens=tokens,
            output_tokens=room,
            cost=0.0 if is_free(llm) else cost,
        )


def sum_largest(readings: Sequence[Reading], count: int) -> Reading:
    """Return the upper bounds of any ``count`` of the ``readings`` together.

    Each figure is the sum of its ``count`` largest values, so different figures may come from
    different readings.
    """

    def most(sizes: Sequence[float]) -> float:
        return sum(sorted(sizes, reverse=True)[:count])

    alone = [reading.most for reading in readings]
    costs = [one.cost for one in alone]
    known = [cost for cost in costs if cost is not None]
    return Reading(
        PlannedMost(
            calls=int(most([one.calls for one in alone])),
            input_tokens=int(most([one.input_tokens for one in alone])),
            output_tokens=int(most([one.output_tokens for one in alone])),
            cost=most(known) if len(known) == len(costs) else None,
        ),
        int(most([reading.reports for reading in readings])),
    )
