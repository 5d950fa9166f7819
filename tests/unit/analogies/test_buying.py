"""Which texts stand in one call, and which are asked for at all."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

from hypothesis import given
from hypothesis import strategies as st

from pgs_neo4j.analogies.buying import group_texts, missing_texts
from pgs_neo4j.analogies.order import AnalogyOrder, AnalogyTools
from pgs_neo4j.analogies.skeletons import TEXTS_PER_CALL, skeleton_prompt
from pgs_neo4j.analogies.texts import GraphText
from pgs_neo4j.calls.prompt_sizes import estimated_tokens
from pgs_neo4j.config import PGSConfig
from pgs_neo4j.model import GraphMapping, PromptNode


def text(place: int, body: str) -> GraphText:
    shown = PromptNode("n1", f"title {place}", body)
    return GraphText(f"node {place}", shown.title, body, shown, f"key {place}", False)


def order(characters: int, tokens: int | None = None) -> AnalogyOrder:
    config = PGSConfig(max_pass_characters=characters, max_pass_tokens=tokens)
    return AnalogyOrder("notes", GraphMapping(), config)


def tools() -> AnalogyTools:
    calls: Any = SimpleNamespace(pass_tokens=lambda llm, most, room: most)
    return cast("AnalogyTools", SimpleNamespace(calls=calls, llm=None))


@given(
    sizes=st.lists(st.integers(0, 2_000), max_size=60),
    room=st.integers(6_000, 30_000),
    tokens=st.none() | st.integers(2_000, 9_000),
    lines=st.booleans(),
)
def test_calls_hold_every_text_once_in_order_and_within_their_limits(
    sizes: list[int], room: int, tokens: int | None, lines: bool
) -> None:
    word = "ab\n" if lines else "abc"
    texts = [text(place, word * (size // 3)) for place, size in enumerate(sizes)]
    limits = order(room, tokens)
    groups = [*group_texts(limits, tools(), texts)]
    assert [one for group in groups for one in group] == texts
    for group in groups:
        assert 1 <= len(group) <= TEXTS_PER_CALL
        prompt = skeleton_prompt([one.shown for one in group])
        if len(group) > 1:
            assert len(prompt.system) + len(prompt.user) <= limits.config.max_pass_characters + 8
            assert tokens is None or estimated_tokens(prompt) <= tokens + len(group)


def test_short_texts_go_out_twenty_at_a_time() -> None:
    texts = [text(place, "short") for place in range(45)]
    groups = [*group_texts(order(100_000), tools(), texts)]
    assert [len(group) for group in groups] == [20, 20, 5]


def test_a_text_larger_than_a_call_stands_alone() -> None:
    texts = [text(0, "short"), text(1, "long " * 2_000), text(2, "short")]
    groups = [*group_texts(order(6_000), tools(), texts)]
    assert [len(group) for group in groups] == [1, 1, 1]


def test_each_content_is_asked_for_once() -> None:
    one, same, other = text(1, "a"), text(1, "a"), text(2, "b")
    assert [found.key for found in missing_texts([one, same, other], [])] == ["key 1", "key 2"]
    assert missing_texts([one, same, other], {"key 1": "", "key 2": "known"}) == []
