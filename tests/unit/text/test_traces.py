"""Text is found again wherever it is quoted, and only where it is."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from pgs_neo4j.text.traces import MOST_PHRASES, RUN, Traces

SECRET = "The vault under the old lighthouse opens with seven silver keys."


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
