"""Generated texts have words as frequent as a language's, and words of their communities."""

from __future__ import annotations

from collections import Counter

import numpy as np

from tests.bench.zipf import CHUNK, COMMON, OWN, ZipfTexts


def texts_of(generated: ZipfTexts) -> list[str]:
    """All texts."""
    return [text for chunk in generated.chunks() for text in chunk]


def test_texts_are_the_same_each_time_and_of_thirty_words() -> None:
    generated = ZipfTexts(np.arange(2_000) % 20, seed=3)
    texts = texts_of(generated)
    assert texts == texts_of(generated)
    assert {len(text.split()) for text in texts} == {COMMON + OWN}


def test_few_words_are_common_and_a_community_has_its_own() -> None:
    texts = texts_of(ZipfTexts(np.arange(2_000) % 20, seed=3))
    counts = Counter(word for text in texts for word in text.split())
    (_, first), (_, second) = counts.most_common(2)
    assert 2_000 * COMMON * 0.02 < first < 2_000 * COMMON * 0.2
    assert second < first
    own = [Counter(word for text in texts[c::20] for word in text.split()[COMMON:]) for c in (0, 1)]
    assert not set(dict(own[0].most_common(20))) & set(dict(own[1].most_common(20)))


def test_a_question_has_words_of_its_node() -> None:
    generated = ZipfTexts(np.arange(CHUNK + 100) % 20, seed=3)
    texts = texts_of(generated)
    asked = generated.questions(30)
    assert len({node for node, _ in asked}) == 30
    for node, question in asked:
        telling = question.removeprefix("What is known about ").removesuffix("?").split()
        assert set(telling) <= set(texts[node].split())
