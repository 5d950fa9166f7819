"""How far a graph has moved, in words that say no more than is known."""

from __future__ import annotations

from pgs_neo4j.cli.pages import drift_words
from pgs_neo4j.model import Drift

MOVED = Drift(
    committed=True,
    nodes=1_003,
    relationships=4_000,
    nodes_added=4,
    nodes_removed=1,
    texts_changed=5,
    facts_changed=2,
    relationships_changed=12,
)


def test_drift_in_one_line() -> None:
    assert drift_words.drifted(MOVED) == (
        "drift 1 %: 4 nodes added, 1 node removed, 5 texts changed, "
        "2 nodes with another weight or embedding, about 12 relationships changed"
    )
    assert drift_words.drifted(Drift(committed=True, nodes=9)) == "drift 0 %: nothing changed"
    assert drift_words.drifted(Drift(committed=False, settings_changed=True)) == (
        "drift 0 %: the settings or the mapping changed"
    )


def test_nothing_committed_is_nothing_scanned() -> None:
    assert drift_words.checked("papers", Drift(committed=False, nodes=9), None, 80) == [
        "graph            papers",
        "committed since  nothing by any other client, so the graph was not scanned",
        "settings         as they were",
        "drift            none",
        "next time        these partitions are used as they are",
    ]


def test_a_scan_tells_what_it_found() -> None:
    assert drift_words.checked("papers", MOVED, "seeded", 80) == [
        "graph            papers",
        "committed since  something by another client, so the graph was scanned",
        "nodes            4 added, 1 removed, 1,003 now",
        "texts            5 changed",
        "weights          2 nodes with another weight or embedding",
        "relationships    about 12 changed, 4,000 now",
        "settings         as they were",
        "drift            1 %",
        "next time        new partitions grow from these",
    ]


def test_only_what_is_estimated_is_called_about() -> None:
    same = Drift(committed=True, nodes=9, relationships=8)
    lines = drift_words.checked("papers", same, None, 80)
    assert "relationships    0 changed, 8 now" in lines
    assert "drift            none" in lines


def test_changed_settings_are_told_without_a_scan() -> None:
    moved = Drift(committed=False, settings_changed=True)
    assert drift_words.checked("papers", moved, "cold", 80)[-3:] == [
        "settings         they or the mapping changed",
        "drift            0 %",
        "next time        new partitions are made from scratch",
    ]


def test_before_the_first_generation_there_is_nothing_to_compare(hostile: str) -> None:
    (line,) = drift_words.checked(hostile, None, "cold", 80)
    assert line.startswith("graph [bold]red[/bold] 2Jtail is not partitioned yet")
    assert "'pgs partition'" in line
