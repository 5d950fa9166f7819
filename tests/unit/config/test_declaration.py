"""A value in a table has the type of its key, as it is written; text of variables is converted."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from pgs_neo4j import config
from pgs_neo4j.config.declaration import types_of
from pgs_neo4j.config.knobs import PGSConfig
from pgs_neo4j.config.models_table import ModelEntry
from pgs_neo4j.config.schedule_table import ScheduleEntry
from pgs_neo4j.config.search_table import SearchDefaults
from pgs_neo4j.config.settings import Settings
from pgs_neo4j.config.token_table import TokenEntry
from pgs_neo4j.errors import ConfigError

WRONG = {
    int: ("must be a whole number", ['"5"', "true"]),
    float: ("must be a number", ['"0.5"', "true"]),
    bool: ("must be true or false", ['"true"', "1"]),
}
"""What is said, and what is written in TOML, by the type of a key."""
TOKEN = f'[[token]]\nname = "ada"\nsha256 = "{"0" * 64}"\nrole = "reader"'
SCHEDULE = '[[schedule]]\ncron = "0 3 * * *"\ngraph = "g"'
TABLES: list[tuple[str, type[BaseModel]]] = [
    ("", Settings),
    ("", PGSConfig),
    ("[search]", SearchDefaults),
    ("[models.m]", ModelEntry),
    (SCHEDULE, ScheduleEntry),
    (TOKEN, TokenEntry),
]


def _cases() -> Iterator[tuple[str, str, str]]:
    for table, model in TABLES:
        for name, field in model.model_fields.items():
            for kind in types_of(field):
                if isinstance(kind, type) and kind in WRONG:
                    yield from _wrong(table, field, name, kind)


def _wrong(table: str, field: FieldInfo, name: str, kind: type) -> Iterator[tuple[str, str, str]]:
    key = field.alias or name
    said, values = WRONG[kind]
    for value in values:
        yield f"{table}\n{key} = {value}\n", key, said


CASES = [
    *_cases(),
    ("max_calls = 5.0", "max_calls", WRONG[int][0]),
    ("[search]\ntop_k = 5.0", "search.top_k", WRONG[int][0]),
    ('max_cost = "dear"', "max_cost", "must be a number, or 'none'"),
    *(
        (f"[search]\nweights = [1, {value}, 0]\n", "search.weights.1", "must be a number")
        for value in ('"2"', "true")
    ),
]


@pytest.mark.parametrize(("text", "key", "said"), CASES)
def test_no_table_takes_a_value_of_another_type(text: str, key: str, said: str, here: Path) -> None:
    (here / "pgs.toml").write_text(text)
    with pytest.raises(ConfigError) as refused:
        config.load()
    assert key in str(refused.value)
    assert said in str(refused.value)


def test_every_table_has_cases() -> None:
    for table, model in TABLES:
        assert any(text.startswith(f"{table}\n") for text, _, _ in CASES), model


def test_what_is_written_in_its_type_is_taken(here: Path) -> None:
    (here / "pgs.toml").write_text(
        "max_calls = 5\nmax_cost = 5\nseed_drift = 0\ntelemetry_text = true\n"
        'sweep_fraction = "none"\nllm_api_key = "k"\n'
        "[search]\nweights = [1, 2.5, 0]\ntop_k = 4\n"
        '[models.m]\napi_key = "k"\ninput_price = 1\noutput_price = 2.5\ncontext = 1000\n'
        "extra_body = {top_k = 5, deep = [1, true]}\n"
        f'{SCHEDULE}\nkind = "ingest"\npaths = ["a", "b"]\nmax_cost = 2\nsync = true\n'
        f'{TOKEN}\ngraphs = ["g"]\nruns = 2\ncost_per_day = 3\n'
    )
    loaded = config.load()
    settings, knobs = loaded.settings, loaded.config
    assert (knobs.max_calls, knobs.max_cost, knobs.sweep_fraction) == (5, 5.0, None)
    assert settings.search.weights == (1.0, 2.5, 0.0)
    assert settings.models["m"].extra_body == {"top_k": 5, "deep": [1, True]}
    assert settings.schedule[0].paths == ("a", "b")
    assert (settings.token[0].runs, settings.token[0].graphs) == (2, ("g",))


def test_variables_are_text_and_override_what_is_written(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (here / "pgs.toml").write_text('max_calls = "5"\n')
    monkeypatch.setenv("PGS_MAX_CALLS", "7")
    monkeypatch.setenv("PGS_TELEMETRY_TEXT", "1")
    monkeypatch.setenv("PGS_CONFIRM_COST", "0.5")
    loaded = config.load()
    assert loaded.config.max_calls == 7
    assert (loaded.settings.telemetry_text, loaded.settings.confirm_cost) == (True, 0.5)
