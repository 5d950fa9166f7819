"""The figures of the benchmark of names."""

from __future__ import annotations

from typing import Any

from pgs_neo4j.model import Adjacent, Partition
from pgs_neo4j.text.words import stems
from tests.bench import naming


def part(number: int, *near: int) -> Partition:
    links = tuple(Adjacent(other, 1, 1.0) for other in near)
    words, summary = (f"word{number}",), f"Summary {number}."
    return Partition(
        id=number, size=1, tokens=1, keywords=words, summary=summary, adjacent=links, titles=("T",)
    )


def test_words_of_more_than_a_tenth_of_the_labels_are_listed() -> None:
    labels = {
        number: f"own{number}, {'glacier' if number < 4 else 'seldom'}" for number in range(30)
    }
    assert naming.shared_words(labels) == ["glacier", "seldom"]
    assert naming.shared_words({1: "one", 2: "two"}) == []
    assert naming.shared_words({}) == []


def test_a_title_is_found_by_the_best_entry_alone() -> None:
    digests = {
        1: [stems("glacier ice"), stems("moraine")],
        2: [stems("court law"), stems("ice of the court and many other words on anything")],
    }
    assert naming.best(stems("Ice of a glacier"), digests) == 1
    assert naming.best(stems("The law"), digests) == 2
    assert naming.best(stems("lathe"), digests) is None
    assert naming.best([], digests) is None
    assert naming.best(stems("glacier"), {}) is None
    assert naming.best(stems("glacier"), {1: [stems("glacier")], 2: [stems("glacier")]}) is None


def test_a_target_whose_partition_has_no_digest_is_missed() -> None:
    rows: list[dict[str, Any]] = [
        {"source": 1, "target": 2, "node": "a"},
        {"source": 1, "target": 3, "node": "b"},
    ]
    digests = {1: {2: ["glacier"]}}
    assert naming.found_share(rows, {"a": "The glacier", "b": "court"}, digests) == 0.5
    assert naming.found_share([], {}, digests) == 0.0


def test_a_draw_is_the_same_each_time_and_may_be_of_distinct_targets() -> None:
    rows = [{"node": f"n{number % 7}", "source": number} for number in range(40)]
    assert naming.draw(rows, distinct=False) == naming.draw(rows, distinct=False)
    assert len(naming.draw(rows, distinct=False)) == 40
    distinct = naming.draw(rows, distinct=True)
    assert sorted(row["node"] for row in distinct) == [f"n{number}" for number in range(7)]


def test_digests_are_those_of_then_and_now() -> None:
    by_id = {1: part(1, 2, 3), 2: part(2), 3: part(3)}
    assert naming.published(by_id[1], by_id)[2] == ["word2", "Summary 2."]
    assert naming.ours(by_id[1], by_id, {(1, 3): ["R"]})[3] == ["word3", "Summary 3.", "R", "T"]


def test_the_table_has_a_line_for_each_way() -> None:
    figures = {
        "label_first": 1.0,
        "shared_words": [],
        "drawn": 0.5,
        "distinct": 0.25,
        "digest_characters": 1200.0,
    }
    run = {"graph": "g", "partitions": 3, "enrich_s": 1.0, "ways": {"ours": figures}}
    text = naming.table({"runs": [run]})
    assert "g: 3 partitions" in text
    assert all(value in text for value in ("100.0%", "50.0%", "25.0%", "1,200"))
