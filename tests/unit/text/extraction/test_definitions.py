"""Abbreviations that a text defines for the names found in it."""

from __future__ import annotations

import pytest

from pgs_neo4j.model.documents import GroundedEntity, GroundedExtraction
from pgs_neo4j.text.extraction.definitions import add_definitions


def defined(text: str, name: str, kind: str = "Organization") -> list[str]:
    start = text.find(name)
    spans = ((start, start + len(name)),) if start >= 0 else ()
    said = GroundedExtraction((GroundedEntity(name=name, type=kind, spans=spans),))
    found = add_definitions(said, text).definitions
    assert all((one.name, one.type) == (name, kind) for one in found)
    return [one.short for one in found]


@pytest.mark.parametrize(
    ("text", "name", "kind", "short"),
    [
        ("The World Health Organization (WHO) met.", "World Health Organization", "", "WHO"),
        ("The WHO (World Health Organization) met.", "World Health Organization", "", "WHO"),
        ("WHO (the World Health Organization, est. 1948)", "World Health Organization", "", "WHO"),
        ("World Health Organization (the \u201cWHO\u201d)", "World Health Organization", "", "WHO"),
        ("convolutional neural networks (CNNs)", "convolutional neural networks", "Concept", "CNN"),
        ("the Internet of Things (IoT) grew", "Internet of Things", "Concept", "IoT"),
        ("World Health Organization (WHO)", "World Health Organization (WHO)", "", "WHO"),
        ("", "WHO (World Health Organization)", "", "WHO"),
        ("Colorado Springs (CO) grows.", "Colorado Springs", "Location", None),
        ("Tom Mitchell (MIT) wrote.", "Tom Mitchell", "Person", None),
        ("Information Technology (it) said.", "Information Technology", "Concept", None),
        ("World Health Organization (WHO EU)", "World Health Organization", "", None),
        ("World Health Organization WHO", "World Health Organization", "", None),
        ("AWHO (World Health Organization", "World Health Organization", "", None),
        ("Mercury (planet) is hot.", "Mercury (planet)", "Location", None),
    ],
)  # fmt: skip
def test_what_is_defined(text: str, name: str, kind: str, short: str | None) -> None:
    found = defined(text or f"{name}.", name, kind or "Organization")
    assert found == ([] if short is None else [short])


def test_the_first_definition_of_a_chunk_counts_and_nothing_is_kept_of_others() -> None:
    text = "United States (US), also United States (US of A), United States (U.S.)."
    starts = [at for at in range(len(text)) if text.startswith("United States", at)]
    spans = tuple((start, start + 13) for start in starts)
    said = GroundedExtraction((GroundedEntity(name="United States", type="Location", spans=spans),))
    once = add_definitions(said, text)
    assert [one.short for one in once.definitions] == ["US"]
    assert add_definitions(once, text) == once
    assert add_definitions(once, "Nothing.").definitions == ()
