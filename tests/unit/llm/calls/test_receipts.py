"""Codes in prompts: what a reply repeats of them is not shown, and requests stay short."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pgs_neo4j.llm.calls.receipts import (
    APART_TOKENS,
    LENGTH,
    ReceiptFilter,
    place_receipts,
    receipt_characters,
    request_receipts,
    with_receipts,
    without_receipts,
)
from pgs_neo4j.model import DoubtedSentence, Prompt
from pgs_neo4j.pgs.sweeping.strict import AGAIN_CHARACTERS, ask_again
from pgs_neo4j.text.tokens import estimate

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


@st.composite
def texts_of_nodes(draw: st.DrawFn) -> list[str]:
    """Texts behind a margin and without one, of few or many lines, words, and scripts."""
    words = ["a ", "clay ", "incomprehensibilities ", "窯の温度", "kiln" * 9]
    times = st.sampled_from([1, 9, 200, 1_500])
    line = st.tuples(st.sampled_from(words), times).map(lambda one: one[0] * one[1])
    text = st.lists(line, min_size=1, max_size=4)
    joins = draw(st.lists(st.sampled_from(["\n", "\n| "]), max_size=6))
    return [f"[n1] A title{join}{join.join(draw(text))}" for join in joins]


@settings(max_examples=30, deadline=None)
@given(texts_of_nodes())
def test_codes_are_at_most_two_thousand_tokens_apart_and_change_no_text(texts: list[str]) -> None:
    tokens = [estimate(text) for text in texts]
    coded, codes = place_receipts(texts, tokens)
    first, *between, last = re.split("|".join(f"~{code}~" for code in codes), coded)
    assert (first, last) == ("", "")
    assert len(between) == len(codes) - 1
    assert all(estimate(part.strip("\n")) <= APART_TOKENS for part in between)
    bare = re.sub(r"~\w{5}~|\n\| |\s", "", coded)
    # Compared as one truth, since a difference of texts as long as these takes minutes to show.
    assert (bare == re.sub(r"\n\| |\s", "", "\n".join(texts))) is True
    added = len(coded) + len(request_receipts(codes)) - len("\n".join(texts))
    assert added <= receipt_characters(sum(tokens))


@pytest.mark.parametrize(("tokens", "share"), [(8_000, 0.015), (16_000, 0.01), (100_000, 0.008)])
def test_codes_add_little_to_a_prompt(tokens: int, share: float) -> None:
    text = "[n1] A title\n| " + "The kiln was fired at dawn by potters of the third guild. " * 12
    texts = [text] * (tokens // estimate(text))
    coded, codes = place_receipts(texts, [estimate(text)] * len(texts))
    added = len(f"{coded}{request_receipts(codes)}") - len("\n".join(texts))
    # A code has about two characters a token, and the reply repeats it.
    spent = estimate("x" * added) + len(codes) * 2 * LENGTH / 2
    assert spent <= share * tokens
