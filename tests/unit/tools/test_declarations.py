"""Each setting is declared once, and what is generated from it is up to date."""

from __future__ import annotations

from typing import get_args, get_type_hints

from pgs_neo4j import config
from pgs_neo4j.config import Declaration, Knobs, PGSConfig, Settings, SettingsOverrides
from pgs_neo4j.config.declaration import Topic
from tests.tools.knob_types import OWN_PARAMETER
from tests.tools.settings_page import HEADINGS, KEYS, settings_page

ALL = [*config.declarations(Settings), *config.declarations(PGSConfig)]


def declaration(name: str) -> Declaration:
    return next(each for each in ALL if each.name == name)


def test_every_knob_has_a_type_and_every_setting_but_the_own_parameter():
    assert set(get_type_hints(Knobs)) == set(PGSConfig.model_fields)
    settings = {*Settings.model_fields, *PGSConfig.model_fields} - {OWN_PARAMETER}
    assert set(get_type_hints(SettingsOverrides)) == settings


def test_topics_descriptions_and_flags_are_in_order():
    assert set(HEADINGS) == set(get_args(Topic)) == {each.about.topic for each in ALL}
    for each in ALL:
        first = each.description.split()[0]
        assert first[0].islower() or first[:3].isupper() or first.startswith("OpenAI"), each.name
        assert not each.description.endswith("."), each.name
        assert len(each.description) <= 120, each.name
    flags = [each.flag for each in ALL]
    assert len(flags) == len(set(flags))
    assert declaration("max_calls").flag == "--max-calls"
    assert declaration("partition_relevance_threshold").flag == "--threshold"


def test_the_page_has_each_setting_once():
    page, _, tables = settings_page().partition("\n## Keys of")
    assert "`cron`" in tables
    for each in ALL:
        assert page.count(f"| `{KEYS.get(each.name, each.name)}` |") == 1, each.name


def test_the_knobs_that_shape_an_answer():
    assert "max_sweep_partitions" in config.SHAPING
    assert not {"cache", "hedge", "max_calls", "lease_s"} & set(config.SHAPING)
    assert len(config.SHAPING) == 13
