"""Text is found again wherever it is quoted, and only where it is."""

from __future__ import annotations

import json

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from pgs_neo4j.text.traces import MOST_PHRASES, RUN, Traces

SECRET = "The vault under the old lighthouse opens with seven silver keys."

OTHER = "Boats carry amber along the northern coast every summer."
FIRST_RUN = "d2c4ef16e3265212"


def traces_of(*texts: str) -> Traces:
    traces = Traces()
    for text in texts:
        traces.add(text)
    return traces


def test_a_sentence_is_found_in_whole_and_in_part_whatever_surrounds_it():
    traces = traces_of(SECRET)
    assert (traces.sentences, traces.short) == (1, 0)
    held = [
        SECRET,
        f"As the note says, *{SECRET.lower()}* and more.",
        "the old lighthouse\nopens with seven **silver** keys",
        json.dumps({"text": SECRET.replace(" lighthouse", "\nlighthouse")}),
    ]
    other = ["", "The vault is old.", "seven silver keys", "The lighthouse under the old vault."]
    assert traces.find([*other, *held, *other]) == [4, 5, 6, 7]


def test_what_stands_elsewhere_is_not_looked_for():
    traces = traces_of(SECRET + " Nobody knows who cast those seven keys in bronze.")
    traces.drop(["Say it again: the vault under the old lighthouse opens with seven silver keys!"])
    assert traces.find([SECRET]) == []
    assert traces.find(["He asked who cast those seven keys in bronze."]) == [0]
    assert not traces.empty
    traces.drop(["Nobody knows who cast those seven keys in bronze."])
    assert traces.empty
    assert traces.phrases == []


def test_runs_cross_neither_sentences_nor_texts():
    traces = traces_of("Alpha beta gamma delta. Epsilon zeta eta theta.")
    assert traces.sentences == 2
    assert traces.find(["gamma delta epsilon zeta eta", "alpha beta gamma", "delta"]) == []
    assert traces.find(["alpha beta gamma delta epsilon"]) == [0]


def test_what_anyone_says_is_not_looked_for():
    traces = traces_of("See also. At the end of the. Read more about this. Yes.")
    assert (traces.sentences, traces.empty) == (0, True)
    assert traces.short == 4
    assert traces.find(["at the end of the day", "See also."]) == []

    lines = traces_of("---\n\n***\n")
    assert (lines.sentences, lines.short, lines.empty) == (0, 0, True)


def test_scripts_without_spaces_are_read_letter_by_letter():
    traces = traces_of("灯台の下の金庫は七つの銀の鍵で開く。")
    assert traces.sentences == 1
    assert traces.find(["彼は金庫は七つの銀の鍵でと言った", "金庫は開く"]) == [0]


def test_phrases_are_stretches_of_the_texts_in_bounded_number():
    traces = traces_of(SECRET)
    (phrase,) = traces.phrases
    assert phrase in SECRET
    assert len(phrase.split()) == RUN
    names = [f"Number{place} holds gold, silver, copper, iron, and tin." for place in range(999)]
    many = traces_of(*names)
    assert MOST_PHRASES <= len(many.phrases) <= 2 * MOST_PHRASES
    assert set(many.find(names)) == set(range(999))


def test_adding_after_a_search_keeps_what_was_dropped_dropped():
    traces = traces_of(SECRET)
    traces.drop([SECRET])
    traces.add("The second vault opens with nothing but patience.")
    assert traces.find([SECRET, "It opens with nothing but patience."]) == []
    assert traces.find([SECRET, "The second vault opens with nothing but patience."]) == [1]


def test_stored_runs_are_found_by_another_process():
    traces = traces_of(SECRET, "Alpha beta gamma delta.")
    traces.drop(["Alpha beta gamma delta"])
    assert traces.runs[:8].hex() == FIRST_RUN
    other = Traces()
    other.add_runs(traces.runs, traces.sizes)
    assert (traces.sizes, other.sentences, other.phrases) == ([4, RUN], 0, [])
    assert other.find([OTHER, SECRET, "Alpha beta gamma delta"]) == [1]
    assert other.runs == traces.runs


def test_sentences_that_are_counted_elsewhere_are_looked_for():
    traces = traces_of(OTHER)
    traces.add(f"{SECRET} Yes.", counted=False)
    assert (traces.sentences, traces.short) == (1, 0)
    assert traces.find([SECRET]) == [0]


@pytest.mark.parametrize(
    "text",
    [
        r"Gradient \nabla of \theta under \rho vanishes here.",
        "Müller führte das Bürogebäude über der Brücke fünf Jahre.",
        "ΦΩΣ ΔΩΣ ΨΩΣ ΛΩΣ",
        r"Folder C:\new\table\u00e9tude\ud83d holds seven files",
        "灯台守",
    ],
)
def test_a_text_is_found_in_itself_and_in_json_of_either_kind(text: str):
    traces = traces_of(text)
    assert traces.sentences == 1
    once, kept = json.dumps(text), json.dumps({"a": [text]}, ensure_ascii=False)
    assert traces.find([text, once, kept, json.dumps([once])]) == [0, 1, 2, 3]
    assert traces.find([text.lower(), text.upper()]) or "\\" in text
    assert traces_of(once).find([text]) == [0]
    assert all(phrase.encode() for phrase in traces.phrases)


def test_escapes_are_read_once_and_part_what_they_parted():
    traces = traces_of("Seven grams of ra\\dium lie here.")
    assert traces.find(["seven grams of ra dium lie"]) == [0]
    assert traces.find(["seven grams of radium lie here"]) == []
    assert traces_of(SECRET).find([r"\u0053even", SECRET.replace("o", r"\u006F")]) == [1]


PARTS = [
    " ", " ", ". ", "\n", "\\", "\\\\", "\\n", "\\u", "\\u00fc", "\\ud83d", "\\ude00", "u00", '"',
    "İsmet", "Müller", "ΦΩΣ", "ß", "\u0307", "😀", "𠮷", "灯台", "\t", "\x7f", "\u2028", "amber",
    "basalt", "cobalt", "Drift", "9", "e", "the",
]  # fmt: skip
PIECES = st.one_of(st.sampled_from(PARTS), st.text(max_size=4))


@given(st.lists(PIECES, max_size=40).map("".join))
def test_any_text_is_found_in_itself_and_in_json(text: str):
    traces = traces_of(text)
    assume(traces.sentences)
    assert traces.find([text, json.dumps(text), json.dumps(text, ensure_ascii=False)]) == [0, 1, 2]


@pytest.mark.parametrize("mark", ["ab", "ü", "\\", "\\n", "z\\u00fcn", "ΦΩΣ"])
def test_a_text_that_is_cut_inside_words_is_found(mark: str):
    text = ",".join(f"word{at}{mark * (100 // len(mark))}" for at in range(40))
    traces = traces_of(text)
    assert traces.sentences > 1
    assert traces.find([text, json.dumps(text)]) == [0, 1]


def test_many_backslashes_take_no_longer_than_other_text():
    traces = traces_of(SECRET)
    assert traces.find(["\\" * 200_000 + SECRET]) == [0]


WORDS = st.sampled_from(["amber", "basalt", "cobalt", "the", "of", "x1"])
SENTENCES = st.lists(WORDS, min_size=1, max_size=9).map(" ".join)


@given(st.lists(SENTENCES, max_size=5), st.lists(SENTENCES, max_size=5), SENTENCES)
def test_runs_are_found_as_a_plain_search_finds_them(
    deleted: list[str], live: list[str], text: str
):
    traces = traces_of(*deleted)
    traces.drop(live)

    def runs(sentence: str) -> set[tuple[str, ...]]:
        words = sentence.split()
        size = min(len(words), RUN)
        found = {tuple(words[at : at + size]) for at in range(len(words) - size + 1)}
        least = 3 if size == RUN else 2
        return {
            run for run in found if size >= 3 and sum(len(w) > 3 or w == "x1" for w in run) >= least
        }

    def holds(where: str, run: tuple[str, ...]) -> bool:
        return f" {' '.join(run)} " in f" {where} "

    wanted = {run for one in deleted for run in runs(one)}
    wanted -= {run for run in wanted if any(holds(one, run) for one in live)}
    assert traces.find([text]) == ([0] if any(holds(text, run) for run in wanted) else [])
