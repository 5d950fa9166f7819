"""What tokens and codes prove of a prompt."""

from __future__ import annotations

import pytest

from pgs_neo4j.llm.calls.proofs import Proofs, Receipts, Verdict
from pgs_neo4j.llm.context import ModelContext
from pgs_neo4j.text.tokens import TextSize, measure

TEXT = "clay and slip met the kiln at dawn "
SERVED = ModelContext(8_000, "server")
CUT = ModelContext(8_000, "cut", prompt=4_000)


def size_of(tokens: int) -> TextSize:
    """A text that has about so many tokens at 1.5 times its floor."""
    return measure(TEXT * int(tokens / 1.5 / measure(TEXT * 100).floor * 100))


@pytest.mark.parametrize(
    ("tokens", "counted", "receipts", "context", "verdict"),
    [
        (4_000, 4_000, "none", None, "unproven"),
        (3_000, 3_000, "none", SERVED, "read"),
        (9_000, 4_000, "none", SERVED, "cut"),  # fewer than the floor
        # Without codes, a count near that of a context may be that of a cut.
        (8_100, 8_000, "none", SERVED, "cut"),
        (7_800, 7_800, "none", SERVED, "cut"),
        (4_100, 4_100, "none", SERVED, "cut"),
        (4_100, 4_000, "none", CUT, "cut"),
        (8_100, 8_000, "none", CUT, "cut"),
        # No server cuts to half of what it has left of another prompt.
        (2_000, 2_000, "none", CUT, "read"),
        (4_100, 4_100, "all", SERVED, "read"),
        (4_100, 4_100, "some", SERVED, "cut"),
    ],
)
def test_a_count_is_compared_with_the_text_and_the_context(
    tokens: int, counted: int, receipts: Receipts, context: ModelContext | None, verdict: Verdict
) -> None:
    assert Proofs().judge("m", size_of(tokens), counted, receipts, context) == verdict


@pytest.mark.parametrize(
    ("tokens", "counted", "verdict"),
    [
        (4_000, 4_000, "read"),  # half of the context, and as many as such a text has
        (8_400, 4_000, "cut"),
        (8_100, 8_000, "cut"),
    ],
)
def test_a_usual_count_is_not_that_of_a_prompt_cut_to_half(
    tokens: int, counted: int, verdict: Verdict
) -> None:
    proofs = Proofs()
    proofs.learn("m", size_of(2_000), 2_000)
    assert proofs.judge("m", size_of(tokens), counted, "none", SERVED) == verdict


@pytest.mark.parametrize("shorter", [(1_000, 2_000), (4_270, 4_070, 4_000), (4_270, 4_220)])
def test_shorter_prompts_show_what_a_server_has_cut_from_all_others(
    shorter: tuple[int, ...],
) -> None:
    """Even prompts that nearly fill the context are shorter than those that were cut to it."""
    proofs = Proofs()
    for tokens in (5_000, 5_040, 4_980):
        assert not proofs.belies("m", size_of(tokens), 4_400)  # nothing to compare it with yet
        proofs.learn("m", size_of(tokens), 4_400)
    for tokens in shorter:
        proofs.learn("m", size_of(tokens), tokens)
    assert all(proofs.belies("m", size_of(tokens), 4_400) for tokens in (5_000, 5_040, 4_980))
    assert not proofs.belies("m", size_of(4_300), 4_300)


@pytest.mark.parametrize(
    ("sizes", "counts", "belied"),
    [
        ((5_000, 5_300), (4_400, 4_400), True),
        ((5_000, 5_200), (4_400, 4_400), False),  # two texts may differ so much
        ((5_000, 5_060, 5_150), (4_400, 4_399, 4_400), True),
        ((5_000, 5_060, 5_150), (4_400, 4_403, 4_400), False),
        ((5_000, 5_150, 5_150), (4_400, 4_400, 4_400), False),  # one of them was asked twice
        # A longer prompt with another count shows that the count was no limit.
        ((5_000, 5_060, 5_150, 5_200), (4_400, 4_400, 4_400, 4_560), False),
        ((5_000, 5_100, 5_200), (5_000, 5_100, 5_200), False),
    ],
)
def test_the_longest_prompts_of_a_kind_were_cut_if_they_have_one_count(
    sizes: tuple[int, ...], counts: tuple[int, ...], belied: bool
) -> None:
    """Whatever came first: the last of them is judged by all others."""
    for last in range(len(sizes)):
        proofs = Proofs()
        for at, (tokens, counted) in enumerate(zip(sizes, counts, strict=True)):
            if at != last:
                proofs.learn("m", size_of(tokens), counted)
        if belied or counts[last] == 4_400:
            assert proofs.belies("m", size_of(sizes[last]), counts[last]) is belied


def test_more_tokens_than_a_context_holds_were_counted_before_the_prompt_was_cut() -> None:
    proofs = Proofs()
    assert proofs.judge("m", size_of(9_000), 9_000, "all", SERVED) == "read"  # it holds more
    assert proofs.judge("m", size_of(9_000), 9_000, "unasked", SERVED) == "unproven"
    assert proofs.judge("m", size_of(9_000), 9_000, "some", SERVED) == "cut"
    assert not proofs.is_count("m", 3_000)  # from now on, codes alone count
    assert proofs.judge("m", size_of(3_000), 3_000, "unasked", SERVED) == "unproven"


def test_what_seemed_whole_teaches_nothing_once_its_server_has_cut() -> None:
    proofs, short = Proofs(), size_of(4_000)
    proofs.learn("m", size_of(5_000), 4_000)  # a fifth was missing, which nothing could show
    assert not proofs.belies("m", short, 3_300)
    proofs.distrust("m")
    proofs.learn("m", size_of(2_000), 2_000)
    assert proofs.belies("m", short, 3_300)
