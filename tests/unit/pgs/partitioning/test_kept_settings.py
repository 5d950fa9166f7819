"""Which settings a graph's partitions keep, and which a person has changed."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgs_neo4j.config import PGSConfig
from pgs_neo4j.errors import StoredDataError
from pgs_neo4j.model import Generation
from pgs_neo4j.pgs.partitioning.kept_settings import (
    ChosenSettings,
    describe_changes,
    describe_ignored,
    keep_settings,
    remember_standing,
    settings_of,
)
from pgs_neo4j.pgs.partitioning.rows import generation_of, generation_properties
from tests.unit.pgs.partitioning.conftest import generation_of_sizes

NAME = "max_partition_tokens"


def made_with(tokens: int, standing: dict[str, list[object]] | None = None) -> Generation:
    knobs = settings_of(PGSConfig(max_partition_tokens=tokens))
    return generation_of_sizes(2, knobs=knobs, standing=standing or {})


@pytest.mark.parametrize(
    ("asked", "called", "standing", "recorded", "expected"),
    [
        ({}, False, {}, {}, 2000),
        ({NAME: 100_000}, True, {}, {}, 100_000),
        ({NAME: 5000}, False, {NAME: 5000}, {NAME: [5000]}, 2000),
        ({NAME: 5000}, False, {NAME: 5000}, {}, 5000),
        ({NAME: 5000}, False, {NAME: 5000}, {NAME: [6000]}, 5000),
        ({NAME: 5000}, False, {NAME: 5000}, {NAME: [5000, 6000]}, 2000),
        ({}, False, {}, {NAME: [5000]}, 2000),
        ({NAME: 5000}, True, {NAME: 5000}, {NAME: [5000]}, 5000),
    ],
    ids=[
        "nobody set it",
        "a call passes the default",
        "configured since before",
        "newly configured",
        "configured otherwise",
        "configured as it was before another value",
        "no longer configured",
        "a call repeats what is configured",
    ],
)
def test_a_setting_stays_until_a_call_or_a_new_configuration_changes_it(
    asked: dict[str, Any],
    called: bool,
    standing: dict[str, object],
    recorded: dict[str, list[object]],
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


def test_a_command_to_partition_takes_up_what_was_configured_before_another_value() -> None:
    chosen = ChosenSettings(standing={NAME: 5000}, partitions=True)
    config = PGSConfig(max_partition_tokens=5000)
    made: list[tuple[int, list[object], int]] = [
        (6000, [5000, 6000], 5000),
        (2000, [5000, 6000], 2000),  # what a call passed counts against both
        (2000, [6000, 5000], 2000),
    ]
    for tokens, recorded, expected in made:
        kept = keep_settings(config, chosen, made_with(tokens, {NAME: recorded}))
        assert kept.max_partition_tokens == expected


@pytest.mark.parametrize(
    ("known", "partitions", "expected"),
    [
        ([], False, [5000]),
        ([6000], False, [6000, 5000]),
        ([5000, 6000], False, [5000, 6000]),
        ([5000, 6000], True, [6000, 5000]),
        ([*range(1001, 1021)], False, [*range(1002, 1021), 5000]),
    ],
)
def test_configured_values_are_remembered_the_latest_last(
    known: list[object], partitions: bool, expected: list[object]
) -> None:
    chosen = ChosenSettings(standing={NAME: 5000, "sweep_max_tokens": 9}, partitions=partitions)
    current = made_with(2000, {NAME: known, "random_seed": [7]})
    assert remember_standing(chosen, current) == {NAME: expected, "random_seed": [7]}
    assert remember_standing(None, current) == current.standing
    assert current.standing[NAME] == known
    assert remember_standing(chosen, None) == {NAME: [5000]}


@given(st.lists(st.sampled_from([2000, 3000, 4000]), min_size=1, max_size=6))
def test_processes_that_are_configured_differently_replace_partitions_once_each(
    asked: list[int],
) -> None:
    """However they take turns, questions replace partitions once for each value."""
    current, made = made_with(1000), 0
    for tokens in asked * 3:
        chosen = ChosenSettings(standing={NAME: tokens})
        kept = keep_settings(PGSConfig(max_partition_tokens=tokens), chosen, current)
        if kept.max_partition_tokens != current.knobs[NAME]:
            standing = remember_standing(chosen, current)
            current, made = made_with(kept.max_partition_tokens, standing), made + 1
        elif kept.max_partition_tokens != tokens:
            ignored = describe_ignored(chosen, current)
            assert f"{NAME} {current.knobs[NAME]} (configured here: {tokens})" in ignored
    assert made == len(set(asked))


def test_what_is_ignored_is_named_with_the_command_that_takes_it_up() -> None:
    current = made_with(6000, {NAME: [5000, 6000]})
    told = describe_ignored(ChosenSettings(standing={NAME: 5000}), current)
    assert "keeps max_partition_tokens 6000 (configured here: 5000), because" in told
    assert f"'pgs partition --graph {current.graph} --max-partition-tokens 5000'" in told
    for chosen in (
        None,
        ChosenSettings(standing={NAME: 6000}),
        ChosenSettings(standing={NAME: 7000}),
        ChosenSettings(standing={NAME: 5000}, called=frozenset({NAME})),
        ChosenSettings(standing={NAME: 5000}, partitions=True),
    ):
        assert describe_ignored(chosen, current) == ""


@given(st.integers(1000, 10**6), st.integers(1000, 10**6))
def test_what_changed_is_named_with_both_values(before: int, after: int) -> None:
    told = describe_changes(PGSConfig(max_partition_tokens=after), made_with(before))
    assert told == ("" if before == after else f"{NAME} is {after} and was {before}")


def test_settings_are_read_back_as_they_were_stored() -> None:
    current = made_with(2000, {"random_seed": [7, 9], "algorithm": ["leiden"]})
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


@pytest.mark.parametrize("text", ['{"max_partition_tokens": 5000}', '{"centroid": ["x"]}', "{"])
def test_configured_values_that_another_program_wrote_are_refused(text: str) -> None:
    current = made_with(2000)
    properties = {**generation_properties(current), "standing": text}
    stored: Any = {"id": "g1", "created_at": "t", **properties}
    with pytest.raises(StoredDataError, match="'pgs partition --graph papers --force'"):
        generation_of("papers", stored)


def test_a_generation_of_an_earlier_release_keeps_no_settings() -> None:
    stored: Any = {"id": "g1", "created_at": "t", **generation_properties(made_with(2000))}
    del stored["knobs"], stored["standing"]
    current = generation_of("papers", stored)
    assert (current.knobs, current.standing) == ({}, {})
    config = PGSConfig(max_partition_tokens=7000)
    assert keep_settings(config, ChosenSettings(), current) is config
    assert describe_ignored(ChosenSettings(standing={NAME: 7000}), current) == ""
