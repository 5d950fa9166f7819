"""Typical sentences of partitions, without boilerplate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from pgs_neo4j.pgs.partitioning.describe.typical import (
    LEAST_ROOM,
    LONGEST,
    MOST_OPENINGS,
    OPENING,
    ROOM,
    Boilerplate,
    Openings,
    choose_sentences,
    opening_room,
)


def chosen(
    texts: Sequence[str], weights: Mapping[str, float], others: Sequence[str] = ()
) -> tuple[str, ...]:
    """The sentences of a partition with these texts; another one has ``others``."""
    parts = []
    for group in (texts, others):
        openings = Openings(ROOM)
        for text in group:
            openings.add(text)
        parts.append(openings)
    return choose_sentences(parts[0], weights, Boilerplate(parts))


WEIGHTS = {"glacier": 9.0, "moraine": 6.0, "ice": 4.0, "report": 0.1}


def test_sentences_with_the_words_that_tell_it_apart_come_first() -> None:
    texts = [
        "The office was opened by three people in May. It is a report on money and on trade.",
        "A glacier pushes its moraine down into the valley below. Nothing else was seen there.",
        "The ice of every winter lies upon that of the year before.",
    ]
    assert chosen(texts, WEIGHTS) == (
        "A glacier pushes its moraine down into the valley below.",
        "The ice of every winter lies upon that of the year before.",
    )


def test_the_second_sentence_does_not_repeat_the_first() -> None:
    texts = [
        "A glacier pushes its moraine down into the valley below.",
        "The moraine of a glacier is pushed down into the valley.",
        "The ice of every winter lies upon that of the year before.",
    ]
    assert chosen(texts, WEIGHTS)[1].startswith("The ice")


def test_lines_that_many_nodes_share_are_left_out() -> None:
    shared = "Copyright (c) The Glacier Ice Moraine Trust and the authors of this document."
    texts = [f"{shared}\n\nA valley without a name lies below the {w} hill." for w in "abc"]
    first = chosen(texts, WEIGHTS)
    assert all("Copyright" not in sentence for sentence in first)
    assert first[0] == "A valley without a name lies below the a hill."
    assert "Copyright" in chosen(texts[:2], WEIGHTS)[0]  # two nodes are not many


def test_sentences_that_many_nodes_share_are_left_out_of_long_lines() -> None:
    shared = "The glacier and ice and moraine data are licensed to everybody without any warranty."
    own = (
        "The {} hill stands above a valley that has no name on any map known to us, and it is cold."
    )
    texts = [
        f"{own.format(word)} {shared} {own.format(word * 2)}" for word in ("red", "low", "far")
    ]
    assert all("licensed" not in sentence for sentence in chosen(texts, WEIGHTS))


def test_boilerplate_of_other_partitions_counts() -> None:
    header = "Status of this memo about ice and glacier is unlimited distribution now."
    texts = [f"{header}\n\nA moraine lies at the end of the long valley."]
    others = [f"{header}\n\nA court hears the {word} case." for word in ("first", "second")]
    assert chosen(texts, WEIGHTS, others) == ("A moraine lies at the end of the long valley.",)


def test_headings_names_and_code_are_left_to_sentences() -> None:
    texts = [
        "GLACIER ICE MORAINE\n\nJ. Glacier, K. Moraine, L. Ice\n\n```\nglacier = ice(moraine)\n```"
        "\n\nThe ice lies upon that of the year before."
    ]
    assert chosen(texts, WEIGHTS) == ("The ice lies upon that of the year before.",)


def test_without_a_sentence_headings_stand_in() -> None:
    assert chosen(["Glacier ice moraine"], WEIGHTS) == ("Glacier ice moraine",)


@pytest.mark.parametrize("texts", [[], [""], ["  \n\n "], ["same text here"] * 5, ["\x00\ud800"]])
def test_nothing_typical_is_none(texts: list[str]) -> None:
    assert "".join(chosen(texts, WEIGHTS)).strip("\x00\ud800") == ""


@pytest.mark.parametrize(
    "text",
    [
        "氷河は谷を下ります。氷は冬ごとに積もります。堆石は谷の終わりにあります。",
        "ธารน้ำแข็งดันกองหินลงไปในหุบเขาเบื้องล่าง",
        "ग्लेशियर अपने मलबे को नीचे की घाटी में धकेलता है। बर्फ हर साल जमती है।",
    ],
)
def test_every_script_has_sentences(text: str) -> None:
    sentences = chosen([text], {})
    assert sentences
    assert all(sentence in " ".join(text.split()) for sentence in sentences)


def test_openings_are_bounded() -> None:
    openings = Openings(ROOM)
    for _ in range(100):
        openings.add("x" * 10_000)
    assert sum(map(len, openings.texts)) == ROOM
    assert max(map(len, openings.texts)) == OPENING
    short = Openings(ROOM)
    for _ in range(100):
        short.add("x")
    assert len(short.texts) == MOST_OPENINGS


def test_many_partitions_have_less_room_each() -> None:
    assert opening_room(0) == opening_room(10) == ROOM
    assert LEAST_ROOM < opening_room(5_000) < ROOM
    assert opening_room(10**6) == LEAST_ROOM


def test_a_long_sentence_is_cut() -> None:
    text = f"A glacier {'and more ice ' * 60} lies here."
    assert all(len(sentence) <= LONGEST for sentence in chosen([text], WEIGHTS))
