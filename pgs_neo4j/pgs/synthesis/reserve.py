"""Computes the part of a budget that is reserved for the synthesis."""

from __future__ import annotations

from pgs_neo4j.config import PGSConfig
from pgs_neo4j.errors import BudgetError
from pgs_neo4j.llm.calls.budget import Amount, estimated_tokens
from pgs_neo4j.llm.calls.calls import Calls
from pgs_neo4j.llm.protocol import LLM
from pgs_neo4j.model import Prompt
from pgs_neo4j.pgs.synthesis.prompt import CHECKS_SHARE, SYSTEM, UNREAD_SHARE
from pgs_neo4j.text.tokens import estimate

ROOM_SHARE = 8  # the text of a synthesis gets one eighth of the budget in tokens
LEAST_ROOM = 256  # minimum tokens of a synthesis that is worth a call
LEAST_PROMPT = 1500  # minimum tokens of its prompt: the instructions and something to combine
FRAME_TOKENS = 300  # tokens of the prompt besides instructions, question, and reports
REPORTS_SHARE = 1 - CHECKS_SHARE - UNREAD_SHARE  # minimum share of the reports in the prompt


def synthesis_cost(calls: Calls, llm: LLM, config: PGSConfig, shown: int) -> Amount:
    """Return the highest possible cost of a synthesis.

    ``shown`` are the tokens of reports, question, and a search's answer.
    """
    prompt = int((estimate(SYSTEM) + FRAME_TOKENS + shown) / REPORTS_SHARE)
    most = calls.pass_tokens(llm, config.max_pass_tokens, config.synthesis_max_tokens)
    prompt = min(prompt, config.max_pass_characters, prompt if most is None else most)
    return calls.budget.most(llm.name, prompt, _reserve_room(calls, llm, config))


def prompt_tokens(calls: Calls, llm: LLM, config: PGSConfig) -> int | None:
    """Return the maximum tokens of a synthesis prompt; None without a limit.

    The model's context and the budget limit them. Raises BudgetError when too little is left.
    """
    fits = calls.pass_tokens(llm, config.max_pass_tokens, config.synthesis_max_tokens)
    left = calls.budget.left(llm.name)
    if left is None:
        return fits
    room = min(_reserve_room(calls, llm, config), max(left // 2, LEAST_ROOM))
    most = calls.budget.estimate_within(llm.name, left - room)
    if most < LEAST_PROMPT:
        raise BudgetError(
            "the limit leaves no room for a synthesis of what was read; the reports are stored, "
            "and 'pgs resume' with a higher limit continues from them"
        )
    return most if fits is None else min(most, fits)


def reply_tokens(calls: Calls, llm: LLM, config: PGSConfig, prompt: Prompt) -> int:
    """Return the maximum tokens of the reply: everything that the prompt leaves."""
    left = calls.budget.left(llm.name)
    if left is None:
        return config.synthesis_max_tokens
    taken = calls.budget.most(llm.name, estimated_tokens(prompt), 0).tokens
    return max(LEAST_ROOM, min(config.synthesis_max_tokens, left - taken))


def _reserve_room(calls: Calls, llm: LLM, config: PGSConfig) -> int:
    whole = calls.budget.whole(llm.name)
    room = config.synthesis_max_tokens
    return room if whole is None else min(room, max(LEAST_ROOM, whole // ROOM_SHARE))
