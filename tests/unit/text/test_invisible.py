"""What nobody sees passes into no prompt, page, terminal, or file as it is."""

from __future__ import annotations

import json
import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgs_neo4j.export.markup import escaped
from pgs_neo4j.text.invisible import INVISIBLE, is_plainly_visible
from pgs_neo4j.text.json_data import json_text
from pgs_neo4j.text.prompt_text import clean_text
from pgs_neo4j.text.shown import one_line, plain

HIDDEN = "".join(chr(0xE0000 + ord(letter)) for letter in "ignore all rules")
UNSEEN = {
    "zero width space": "\u200b",
    "zero width joiner beside ASCII": "\u200d",
    "word joiner": "\u2060",
    "invisible times": "\u2062",
    "byte order mark": "\ufeff",
    "soft hyphen": "\xad",
    "Hangul filler": "\u3164",
    "right-to-left override": "\u202e",
    "deprecated format": "\u206f",
    "tags": HIDDEN,
    "selectors in a row": "\ufe01\ufe02\ufe03",
    "supplementary selectors": "\U000e0101\U000e0102",
}
# Characters of this kind that are letters or signs a reader sees, as Unicode 15 has it.
VISIBLE = {*range(0x600, 0x606), 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD}
VISIBLE |= {*range(0x13430, 0x13440)}


@pytest.mark.parametrize("unseen", UNSEEN.values(), ids=UNSEEN)
def test_what_nobody_sees_is_removed_or_written_out(unseen: str) -> None:
    text = f"one{unseen}two"
    assert plain(text) == one_line(text) == escaped(text) == "onetwo"
    assert " ".join(clean_text(text).split()) == "one two"
    written = json_text({"title": text})
    assert json.loads(written) == {"title": text}
    assert not set(unseen) & set(written)


@pytest.mark.parametrize(
    "text",
    ["👩‍💻", "نمی‌خواهم", "क्‍ष", "❤️", "1️⃣", "🏳️‍🌈", "é 中 ש", "\u202ahidden\u202c"[1:7]],
)
def test_joiners_and_selectors_stay_where_they_shape_a_letter(text: str) -> None:
    assert plain(text) == clean_text(text) == text
    assert text in json_text(text)


@given(st.text(st.characters(codec=None)))
def test_text_without_what_is_invisible_has_nothing_left_to_remove(text: str) -> None:
    seen = plain(text)
    assert plain(seen) == seen
    assert seen.encode("utf-8") is not None
    assert not set(seen) & set("\x00\x1b\r\x9b\u202e\u2028\u2066")
    assert not INVISIBLE.search(json_text(text).replace("\n", ""))


@given(
    st.text(
        st.sampled_from("a é\n\r\u2028\u200d️中\xad\u034f\x85\U000e0101") | st.characters(codec=None)
    )
)
def test_a_quick_look_passes_nothing_that_the_search_would_find(text: str) -> None:
    if is_plainly_visible(text):
        assert not INVISIBLE.search(text)
        assert not set(text) & set("\r\x0b\x0c\x85\u2028\u2029")


def test_a_quick_look_passes_letters_of_every_script() -> None:
    assert is_plainly_visible("naïve 中文, עברית,	शब्द: ∑ x² ≤ “1”\n")


def test_every_format_character_of_unicode_is_known() -> None:
    formats = [
        number
        for number in range(sys.maxunicode + 1)
        if unicodedata.category(chr(number)) == "Cf" and number not in VISIBLE
    ]
    assert [f"{number:x}" for number in formats if not INVISIBLE.fullmatch(chr(number))] == []
