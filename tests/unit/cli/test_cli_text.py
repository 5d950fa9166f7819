"""Text is laid out for a terminal without losing anything."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pgs_neo4j.cli.pages import text


def test_wrapper_breaks_at_words_and_indents_bullets() -> None:
    wrapper = text.Wrapper(20)
    pieces = ["- one two thr", "ee four five six", " seven\nplain text that is long\n"]
    wrapped = "".join(map(wrapper.feed, pieces)) + wrapper.close()
    assert wrapped == "- one two three four\n  five six seven\nplain text that is\nlong\n"


def test_wrapper_without_a_width_passes_on_at_once() -> None:
    assert text.Wrapper(None).feed("no change  at all") == "no change  at all"


@given(st.lists(st.text(alphabet="ab -\n*1."), max_size=20), st.integers(10, 40))
def test_wrapper_changes_nothing_but_spaces(pieces: list[str], width: int) -> None:
    wrapper = text.Wrapper(width)
    wrapped = "".join(map(wrapper.feed, pieces)) + wrapper.close()
    assert wrapped.split() == "".join(pieces).split()
    longest = max((len(word) for word in wrapped.split()), default=0)
    if longest < width // 3:
        assert all(
            len(line.rstrip()) <= width
            for line in wrapped.splitlines()
            if line.strip()[:1].isalpha()
        )
