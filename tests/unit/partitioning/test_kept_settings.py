"""Which settings a graph's partitions keep, and which a person has changed."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgs_neo4j.config import PGSConfig
from pgs_neo4j.errors import StoredDataError
from pgs_neo4j.model import Generation
from pgs_neo4j.partitioning.kept_settings import (
    ChosenSettings,
    describe_changes,
    keep_settings,
    settings_of,
)
from pgs_neo4j.partitioning.rows import generation_of, generation_properties
from tests.unit.partitioning.conftest import generation_of_sizes

NAME = "max_partition_tokens"


def made_with(tokens: int, standing: dict[str, object] | None = None) -> Generation:
    knobs = settings_of(PGSConfig(max_partition_tokens=tokens))
    return generation_of_sizes(2, knobs=knobs, standing=standing or {})


@pytest.mark.parametrize(
    ("asked", "called", "standing", "recorded", "expected"),
    [
        ({}, False, {}, {}, 2000),
        ({NAME: 100_000}, True, {}, {}, 100_000),
        ({NAME: 5000}, False, {NAME: 5000}, {NAME: 5000}, 2000),
        ({NAME: 5000}, False, {NAME: 5000}, {}, 5000),
        ({NAME: 5000}, False, {NAME: 5000}, {NAME: 6000}, 5000),
        ({}, False, {}, {NAME: 5000}, 2000),
        ({NAME: 5000}, True, {NAME: 5000}, {NAME: 5000}, 5000),
    ],
    ids=[
        "nobody set it",
        "a call passes the default",
        "configured since before",
        "newly configured",
        "configured otherwise",
        "no longer configured",
        "a call repeats what is configured",
    ],
)
def test_a_setting_stays_until_a_call_or_a_new_configuration_changes_it(
    asked: dict[str, Any],
    called: bool,
    standing: dict[str, object],
    recorded: dict[str, object],
    expected: int,
) -> None:
    chosen = ChosenSettings(standing=standing).of_call(asked if called else {})
    kept = keep_settings(PGSConfig(**asked), chosen, made_with(2000, recorded))
    assert kept.max_partition_tokens == expected


def test_a_setting_that_is_passed_as_none_is_not_chosen() -> None:
    assert ChosenSettings().of_call({NAME: None}) == ChosenSettings()


def test_before_the_first_generation_and_without_a_choice_all_settings_count() -> None:
    config = PGSConfig(max_partition_tokens=7000)
    assert keep_settings(config, ChosenSettings(), None) is config
    assert keep_settings(config, None, made_with(2000)) is config


@given(st.integers(1000, 10**6), st.integers(1000, 10**6))
def test_what_changed_is_named_with_both_values(before: int, after: int) -> None:
    told = describe_changes(PGSConfig(max_partition_tokens=after), made_with(before))
    assert told == ("" if before == after else f"{NAME} is {after} and was {before}")


def test_settings_are_read_back_as_they_were_stored() -> None:
    current = made_with(2000, {"random_seed": 7})
    stored: Any = {"id": "g1", "created_at": current.created_at, **generation_properties(current)}
    assert generation_of("papers", stored) == current


@pytest.mark.parametrize(
    "text", ['{"max_partition_tokens": -5}', '{"algorithm": "x"}', '{"random_seed": true}', "[]"]
)
def test_settings_that_another_program_wrote_are_refused(text: str) -> None:
    current = made_with(2000)
    stored: Any = {"id": "g1", "created_at": "t", **generation_properties(current), "knobs": text}
    with pytest.raises(StoredDataError, match="knobs was changed by another program"):
        generation_of("papers", stored)
