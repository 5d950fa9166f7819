"""Writes extractions in the form of a model's reply."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pgs_neo4j.model.documents import Extraction
from pgs_neo4j.text.extraction.records import COMPLETE, DELIMITER, neutral_text


def write_records(extraction: Extraction) -> str:
    """Return the records of an extraction, with the mark of a complete reply."""
    lines = [
        _line(["entity", one.name, one.type, one.description, write_numbers(one.sentences)])
        for one in extraction.entities
    ]
    for relation in extraction.relations:
        fields = ["relation", relation.source, relation.target, ", ".join(relation.keywords)]
        fields += [relation.description, write_numbers(relation.sentences)]
        if relation.weight != 1.0:
            fields.append(f"{relation.weight:g}")
        lines.append(_line(fields))
    return "\n".join([*lines, COMPLETE, ""])


def write_numbers(numbers: Sequence[int]) -> str:
    """Return numbers as a field: ``1,3-5``."""
    runs: list[list[int]] = []
    for number in sorted(set(numbers)):
        if runs and runs[-1][-1] == number - 1:
            runs[-1][1:] = [number]
        else:
            runs.append([number])
    return ",".join("-".join(map(str, run)) for run in runs)


def _line(fields: Iterable[str]) -> str:
    return DELIMITER.join(" ".join(neutral_text(field).split()) for field in fields)
