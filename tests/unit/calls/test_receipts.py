"""Codes in prompts: what a reply repeats of them is not shown, and requests stay short."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgs_neo4j.calls.receipts import ReceiptFilter, with_receipts, without_receipts
from pgs_neo4j.model import DoubtedSentence, Prompt
from pgs_neo4j.sweeping.strict import AGAIN_CHARACTERS, ask_again

CODES = ("ab3de", "fgh2j")
PROMPT = Prompt(task="rerank", system="Order.", user="1. a\n2. b\n\nQuestion: ?", question="?")


@pytest.mark.parametrize(
    ("reply", "left"),
    [
        ("Codes: ab3de fgh2j\n\n## Answer\nYes.", "## Answer\nYes."),
        ("**codes:** ~ab3de~ ~fgh2j~\n3, 1", "3, 1"),
        ("~ab3de~ ~fgh2j~\n3, 1", "3, 1"),
        ("Codes of honor matter.\nYes.", "Codes of honor matter.\nYes."),
        ("Yes.\nCodes: ab3de", "Yes.\n"),
        ("Codes: ab3de", ""),
    ],
)
def test_lines_that_repeat_codes_are_left_out(reply: str, left: str) -> None:
    assert without_receipts(reply, CODES) == left
    assert without_receipts(reply, ()) == reply


@given(st.lists(st.integers(0, 60), max_size=8))
def test_pieces_do_not_matter(places: list[int]) -> None:
    text = "Codes: ab3de fgh2j\n\n## Answer\nCo\nCodes are fine.\ncode"
    cuts = sorted({0, *places, len(text)})
    receipts = ReceiptFilter(CODES)
    pieces = [text[start:end] for start, end in pairwise(cuts)]
    shown = "".join([*map(receipts.pass_on, pieces), receipts.end()])
    assert shown.lstrip("\n") == "## Answer\nCo\nCodes are fine.\ncode"


def test_a_reply_does_not_depend_on_the_codes_of_its_prompt() -> None:
    coded = with_receipts(PROMPT, "lines")
    assert coded.content == PROMPT.user
    assert all(f"~{code}~" in coded.user for code in coded.receipts)
    assert [line for line in coded.user.split("\n") if line in PROMPT.user.split("\n")][:2] == [
        "1. a",
        "2. b",
    ]


@pytest.mark.parametrize("count", [1, 5, 50])
def test_a_request_to_write_again_is_short(count: int) -> None:
    failed = [DoubtedSentence(text="x" * 500, reason="no cited node has 7")] * count
    again = ask_again(PROMPT, failed)
    assert 0 < len(again.user) - len(PROMPT.user) <= AGAIN_CHARACTERS + 2
    assert again.user.startswith(PROMPT.user)
    assert "no cited node has 7" in again.user
