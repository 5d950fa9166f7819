"""Words of many texts at once are the words of each text."""

from __future__ import annotations

import numpy as np
import pytest

from pgs_neo4j.text.terms import postings as batching
from pgs_neo4j.text.terms import spans
from pgs_neo4j.text.terms.postings import batches
from pgs_neo4j.text.terms.spans import hash_words, split_words, stem_ends
from pgs_neo4j.text.words import stem, words

TEXTS = [
    "maxRetries of HTTPServer: parse, parsers, and parsing.",
    "",
    "Straße ÉCOLE naïve x y2 2020 123 under_score e-mail",
    "XMLHttpRequest iOS usesAAAbc bus process passing controlled eess ss s es ies seed rees",
    "日本語のテキスト and 한국어 ภาษาไทย",
    "éAbc aÉb ISBN10 a1B2c3",
    "𐌰𐌱 \U0001d518\U0001d52b \U00020000\U00020001",
]


def spelled(found: spans.WordSpans) -> list[list[str]]:
    """The words of each text."""
    lists: list[list[str]] = [[] for _ in TEXTS]
    for place in range(len(found)):
        lists[found.texts[place]].append(found.spell(place))
    return lists


def test_the_words_are_those_of_each_text_and_numbers_and_function_words() -> None:
    for text, found in zip(TEXTS, spelled(split_words(TEXTS).words), strict=True):
        wanted = words(text)
        assert [word for word in found if word in wanted] == wanted
        more = {word for word in found if word not in wanted}
        assert all(len(word) == 1 or word.isdigit() or not words(word) for word in more), more


def test_identifiers_are_also_there_as_a_whole() -> None:
    wholes = spelled(split_words(TEXTS).wholes)
    assert wholes[0] == ["maxretries", "httpserver"]
    assert wholes[3] == ["xmlhttprequest", "ios", "usesaaabc"]
    assert wholes[5] == []


def test_scripts_without_spaces_give_letters_and_pairs() -> None:
    split = split_words(["日本語 and x語"], apart=True)
    signs = [split.signs.spell(place) for place in range(len(split.signs))]
    assert signs == ["日", "本", "語", "語", "日本", "本語"]
    plain = [split.words.spell(place) for place in range(len(split.words))]
    assert plain == ["and", "x"]


@pytest.mark.parametrize("text", TEXTS)
def test_stems_are_those_of_words(text: str) -> None:
    found = split_words([text]).words
    ends = stem_ends(found)
    for place in range(len(found)):
        letters = found.codes[found.starts[place] : ends[place]]
        assert "".join(map(chr, letters.tolist())) == stem(found.spell(place))


def test_words_that_are_data_keep_their_endings() -> None:
    found = split_words([f"{'a' * 61}ing {'a' * 62}ing"]).words
    assert (stem_ends(found) - found.starts).tolist() == [60, 65]


def test_a_hash_depends_on_the_word_alone() -> None:
    plain = split_words(["alpha beta", "beta gamma"]).words
    wide = split_words(["ünïcode", "and gamma alpha", "beta"]).words
    first = dict(zip(map(plain.spell, range(4)), hash_words(plain).tolist(), strict=True))
    second = dict(zip(map(wide.spell, range(5)), hash_words(wide).tolist(), strict=True))
    assert all(first[word] == second[word] for word in first)
    assert len({*first.values(), *second.values()}) == 5


def test_hashes_of_many_words_do_not_collide() -> None:
    found = split_words([" ".join(f"w{number}" for number in range(200_000))]).words
    short = hash_words(found) >> np.uint64(16)
    assert len(np.unique(short)) == 200_000


def test_batches_hold_whole_words_and_every_character(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batching, "BATCH", 30)
    texts = ["short", "", "a much longer text of several words " * 3, "x" * 100]
    joined = [""] * len(texts)
    for pieces, places in batches(texts):
        assert sum(map(len, pieces)) <= 60
        for piece, place in zip(pieces, places.tolist(), strict=True):
            joined[place] += piece
            assert not set(words(piece)) - set(words(texts[place])) or "x" in piece
    assert joined == texts
