"""What published databases show to people and what they have to read, against a judged list."""

import gzip
import json
from pathlib import Path

import pytest

from pgs_neo4j.engine.survey import Survey, candidates
from pgs_neo4j.engine.survey.weighing import choose_relationship_text
from tests.unit.engine.survey.judged import FACTS, JUDGED, UNSURE, read_samples, read_types


@pytest.fixture(scope="module")
def schemas(shared: Path) -> dict[str, str]:
    with gzip.open(shared / "data" / "text2cypher.json.gz") as file:
        return dict(json.load(file)["schemas"])


def test_names_and_prose_are_found_and_codes_are_not(schemas: dict[str, str]) -> None:
    missed = list[tuple[str | None, ...]]()
    wrong, other, right = list[tuple[str, ...]](), 0, 0
    for database, labels in JUDGED.items():
        samples = {sample.label: sample for sample in read_samples(schemas[database])}
        assert labels.keys() <= samples.keys()
        for label, (title, texts) in labels.items():
            sample = samples[label]
            chosen = candidates.choose_title(sample)
            found = chosen.name if chosen else None
            read = {item.name for item in candidates.choose_texts(sample, found)}
            wanted = {*texts, *filter(None, (title,))}
            if found != title:
                missed.append((database, label, title, found))
            missed += [(database, label, name) for name in wanted - read]
            right += len(wanted & read) + (found == title and title is not None)
            for item in sample.properties:
                if item.name in wanted or (database, label, item.name) in UNSURE:
                    continue
                other += 1
                if item.name in read:
                    wrong.append((database, label, item.name))
    assert not missed
    assert not wrong
    assert right >= 140
    assert other >= 200


def test_what_relationships_state_is_found_and_codes_are_not(schemas: dict[str, str]) -> None:
    for database, schema in schemas.items():
        survey = Survey(nodes=1, relationships=1, relationship_types=tuple(read_types(schema)))
        found = choose_relationship_text(survey).name
        assert found == FACTS.get(database), database
