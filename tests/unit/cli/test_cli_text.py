"""Nothing from a graph reaches a terminal as anything but text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgs_neo4j.cli import text


def controls(line: str) -> list[str]:
    return [c for c in line if c not in "\n\t" and (ord(c) < 32 or 0x7F <= ord(c) < 0xA0)]


def test_plain_takes_out_escape_sequences_whole(hostile: str) -> None:
    assert text.plain(hostile) == "[bold]red[/bold] 2Jtail"


@given(st.text())
def test_plain_leaves_no_control_character(given_text: str) -> None:
    safe = text.plain(given_text)
    assert controls(safe) == []
    assert text.plain(safe) == safe
    safe.encode("utf-8")


def test_one_line_joins_and_cuts() -> None:
    assert text.one_line("a\n  b\tc") == "a b c"
    assert text.one_line("abcdef", 4) == "abc…"
    assert text.one_line("abcd", 4) == "abcd"


@pytest.mark.parametrize(
    ("share", "shown"),
    [(0.0, "0 %"), (0.001, "under 1 %"), (0.5, "50 %"), (0.999, "over 99 %"), (1.0, "100 %")],
)
def test_percent_never_rounds_to_all_or_nothing(share: float, shown: str) -> None:
    assert text.percent(share) == shown


@pytest.mark.parametrize(
    ("value", "shown"), [(0.04, "0.0 s"), (9.94, "9.9 s"), (45.4, "45 s"), (185, "3 min 05 s")]
)
def test_seconds(value: float, shown: str) -> None:
    assert text.seconds(value) == shown


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
