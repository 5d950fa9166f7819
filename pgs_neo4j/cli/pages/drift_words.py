"""Words for the drift of a graph."""

from __future__ import annotations

from pgs_neo4j.cli.pages.text import labeled
from pgs_neo4j.model import Drift, Origin
from pgs_neo4j.text.shell_words import shell_word
from pgs_neo4j.text.shown import counted, one_line, percent

COLUMN = 17  # columns of the labels on the left
OUTLOOK: dict[Origin | None, str] = {
    None: "these partitions are used as they are",
    "refreshed": "the partitions stay; those affected get new descriptions",
    "seeded": "new partitions grow from these",
    "cold": "new partitions are made from scratch",
}


def changes(moved: Drift) -> list[str]:
    """Return what changed, each in a few words; empty when nothing did."""
    about = counted(moved.relationships_changed, "relationship")
    listed = (
        (moved.settings_changed, "the settings or the mapping changed"),
        (moved.nodes_added, f"{counted(moved.nodes_added, 'node')} added"),
        (moved.nodes_removed, f"{counted(moved.nodes_removed, 'node')} removed"),
        (moved.texts_changed, f"{counted(moved.texts_changed, 'text')} changed"),
        (
            moved.facts_changed,
            f"{counted(moved.facts_changed, 'node')} with another weight or embedding",
        ),
        (moved.relationships_changed, f"about {about} changed"),
    )
    return [words for happened, words in listed if happened]


def drifted(moved: Drift) -> str:
    """Return the drift in one line: ``drift 3 %: 5 texts changed``."""
    return f"drift {percent(moved.fraction)}: {', '.join(changes(moved)) or 'nothing changed'}"


def checked(graph: str, moved: Drift | None, outlook: Origin | None, width: int) -> list[str]:
    """Return a drift check in lines; None: no generation exists yet.

    ``outlook`` is how the next generation would be built, None if none is needed.
    """
    name = one_line(graph)
    if moved is None:
        return [
            f"graph {name} is not partitioned yet, so there is nothing to compare it with; "
            f"'pgs partition --graph {shell_word(name)}' makes the first partitions"
        ]
    rows = [("graph", name), ("committed since", _committed(moved))]
    rows += _scanned(moved) if moved.committed else []
    settings = "they or the mapping changed" if moved.settings_changed else "as they were"
    rows.append(("settings", settings))
    rows.append(("drift", percent(moved.fraction) if moved.changed else "none"))
    rows.append(("next time", OUTLOOK[outlook]))
    return [line for label, text in rows for line in labeled(label, text, width, COLUMN)]


def _committed(moved: Drift) -> str:
    if not moved.committed:
        return "nothing by any other client, so the graph was not scanned"
    return "something by another client, so the graph was scanned"


def _scanned(moved: Drift) -> list[tuple[str, str]]:
    relationships = f"{moved.relationships_changed:,} changed"
    if moved.relationships_changed:
        relationships = f"about {relationships}"
    nodes = f"{moved.nodes_added:,} added, {moved.nodes_removed:,} removed"
    return [
        ("nodes", f"{nodes}, {moved.nodes:,} now"),
        ("texts", f"{moved.texts_changed:,} changed"),
        ("weights", f"{counted(moved.facts_changed, 'node')} with another weight or embedding"),
        ("relationships", f"{relationships}, {moved.relationships:,} now"),
    ]
