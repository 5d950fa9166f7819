from __future__ import annotations

import pytest

from pgs_neo4j.text.local_extraction.tokens import (
    CAPITAL,
    DETERMINER,
    LINK,
    NAME,
    NUMBER,
    STOP,
    TOKEN,
    WORD,
    key_of,
    plain_words,
    word_of,
)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("graph", WORD),
        ("Graph", CAPITAL),
        ("neo4j", NAME),
        ("C++", NAME),
        ("C", CAPITAL),
        ("node.js", NAME),
        ("x", STOP),
        ("x" * 200, STOP),
        ("however", STOP),
        ("don't", STOP),
        ("the", DETERMINER),
        ("of", LINK),
        ("1999", NUMBER),
        ("字", WORD),
        ("Élan", CAPITAL),
    ],
)
def test_kinds_of_words(text: str, kind: int) -> None:
    assert word_of(text).kind == kind


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("graphs", "graph"),
        ("London's", "London"),
        ("London\u2019s", "London"),
        ("query language", "Query Languages"),
        ("theories", "theory"),
    ],
)
def test_forms_of_a_word_have_one_key(one: str, other: str) -> None:
    assert key_of(one) == key_of(other)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("apoc.load.json", ("apoc", "load", "json")),
        ("spring-boot", ("spring", "boot")),
        ("AT&T", ()),
        ("FileName", ()),
        ("out-of-the-box", ("box",)),
    ],
)
def test_compounds_have_parts(text: str, parts: tuple[str, ...]) -> None:
    assert word_of(text).parts == parts


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("A C++ and C# test.", ["A", "C++", "and", "C#", "test"]),
        ("node.js, v1.2.3!", ["node.js", "v1.2.3"]),
        ("AT&T's don't", ["AT&T's", "don't"]),
        ("北京 大学", ["北京", "大学"]),
    ],
)
def test_a_sentence_is_split_into_words(text: str, words: list[str]) -> None:
    assert TOKEN.split(text)[1::2] == words


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("see https://a.b/c?d=e now", "see  .  now"),
        ("a [link](http://x.y/z) here", "a [link .  here"),
        ("a [link][ref] here", "a [link .  here"),
        ("a &lt;b&gt; &amp; c", "a  .  & c"),
        ("<b>bold</b> text", " . bold .  text"),
        ("a < b and c > d", "a < b and c > d"),
    ],
)
def test_addresses_and_tags_are_no_words(text: str, plain: str) -> None:
    assert plain_words(text) == plain
