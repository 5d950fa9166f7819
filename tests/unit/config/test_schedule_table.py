"""`[[schedule]]` tables: what is taken, and sentences that name the entry at fault."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest

from pgs_neo4j.config.schedule_table import ScheduleEntry, entries
from pgs_neo4j.errors import ConfigError

WHOLE = """
[[schedule]]
graph = "papers"
cron = "17 3 * * *"
if_changed = true
max_drift = 0.05
keep = 2
timezone = "Europe/Oslo"

[[schedule]]
all = true
cron = "0 4 * * sun"
"""


def test_entries_are_read_in_their_order_with_defaults() -> None:
    read = first, second = entries(tomllib.loads(WHOLE)["schedule"])
    assert first == ScheduleEntry(
        graph="papers", cron="17 3 * * *", max_drift=0.05, keep=2, timezone="Europe/Oslo"
    )
    assert (first.target, second.target) == ("graph papers", "all graphs")
    assert (second.if_changed, second.max_drift, second.keep) == (True, None, None)
    assert entries(read) == read
    assert entries([]) == ()


EVERY_NIGHT = {"cron": "0 3 * * *"}
INGEST = {"kind": "ingest", "paths": ["a"]}


def with_time(table: Any) -> Any:
    """A table with a time unless it has one; None stands for none."""
    if not isinstance(table, dict):
        return table
    return {name: value for name, value in (EVERY_NIGHT | table).items() if value is not None}


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        ({"graph": "papers", "cron": None}, r"entry 2 \(graph papers\): cron is missing"),
        ({}, "entry 2 has neither graph nor all = true"),
        ({"graph": "a", "all": True}, r"entry 2 \(graph a\) has both"),
        ({"cron": "0 3 * *", "graph": "a"}, "cron has 4 fields instead of 5"),
        ({"grpah": "a"}, "grpah is unknown; did you mean graph"),
        ({"graph": "a", "max_drift": 5}, "max_drift must be at most 1"),
        ({"graph": "a", "keep": 0}, "keep must be at least 1"),
        ({"cron": 3, "graph": "a"}, "cron must be a text"),
        (
            {"graph": "a", "max_drift": 0.1, "if_changed": False},
            "has a max_drift and if_changed = false",
        ),
        ("0 3 * * *", "entry 2 is not a table"),
        ({"graph": "a", "kind": "ingest"}, r"entry 2 \(graph a\) has no paths; add some"),
        ({"all": True, **INGEST}, "has kind = 'ingest' and all, which is a key of 'repartition'"),
        (
            {"graph": "a", "paths": ["a"]},
            "has kind = 'repartition' and paths, which is a key of 'ingest'",
        ),
        ({"graph": "a", **INGEST, "keep": 3}, "kind = 'ingest' and keep"),
        ({"graph": "a", "kind": "delete"}, "kind must be 'repartition' or 'ingest'"),
        ({"graph": "a", **INGEST, "max_cost": 0}, "max_cost must be greater than 0"),
        (INGEST, "has no graph; name the graph"),
    ],
)
def test_a_wrong_entry_is_named_in_one_sentence(table: object, sentence: str) -> None:
    with pytest.raises(ConfigError, match=sentence) as refused:
        entries([EVERY_NIGHT | {"graph": "good"}, with_time(table)])
    assert str(refused.value).startswith("schedule entry 2")
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("wrong", [{"graph": "a"}, "a", 3, None])
def test_what_is_no_list_of_tables_is_refused(wrong: object) -> None:
    with pytest.raises(ConfigError, match=r"write each entry under \[\[schedule\]\]"):
        entries(wrong)


INGESTING = """
[[schedule]]
kind = "ingest"
graph = "notes"
paths = ["notes/", "https://example.org/a.html"]
cron = "7 * * * *"
sync = true
schema = "types.toml"
max_tokens = 9000
"""


def test_an_entry_that_ingests_has_paths_options_and_limits() -> None:
    (entry,) = entries(tomllib.loads(INGESTING)["schedule"])
    assert (entry.kind, entry.target) == ("ingest", "files of graph notes")
    assert entry.paths == ("notes/", "https://example.org/a.html")
    assert (entry.sync, entry.forget, entry.refresh, entry.embed) == (True, False, False, False)
    assert entry.schema_file == "types.toml"
    assert entry.limits == {"max_tokens": 9000}
    assert entries([entry]) == (entry,)
