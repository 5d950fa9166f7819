"""Extractors by spaCy and GLiNER: places of a tagger as entities, and relations of a sentence."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pgs_neo4j.adapters import GlinerExtractor, SpacyExtractor
from pgs_neo4j.adapters.gliner import WINDOW, windows
from pgs_neo4j.adapters.places import (
    MOST_ENTITIES,
    MOST_PAIRS,
    TaggedPlace,
    build_extraction,
)
from pgs_neo4j.documents.order import Extractor
from pgs_neo4j.errors import ConfigError
from pgs_neo4j.model.documents import Chunk, DocumentText
from pgs_neo4j.model.ingest import ExtractionForecast
from pgs_neo4j.text.chunking import ChunkRules, chunk_document
from pgs_neo4j.text.extraction.ground import ground
from tests.fakes.taggers import FakeGliner, FakePipeline

TEXT = (
    "Marie Curie lived in Paris. She taught at the Sorbonne in Paris.\n\n"
    "Marie Curie won two prizes. TP53 was no subject of Marie Curie in Paris."
)
LABELS = {
    "Marie Curie": "PERSON", "Paris": "GPE", "Sorbonne": "ORG", "TP53": "GENE", "two": "CARDINAL",
}  # fmt: skip


def fake_pipeline() -> Any:
    return FakePipeline(LABELS)


def real_pipeline() -> Any:
    import spacy

    pipeline = spacy.blank("en")
    ruler = pipeline.add_pipe("entity_ruler")
    ruler.add_patterns([{"label": label, "pattern": name} for name, label in LABELS.items()])
    return pipeline


PIPELINES = [
    fake_pipeline,
    pytest.param(
        real_pipeline, marks=pytest.mark.skipif(not find_spec("spacy"), reason="needs spaCy")
    ),
]


def chunk_of(text: str) -> Chunk:
    (chunk,) = chunk_document(DocumentText(text=text), ChunkRules(size=20_000))
    return chunk


@pytest.mark.parametrize("pipeline", PIPELINES)
async def test_a_pipeline_names_entities_at_their_places(pipeline: Any) -> None:
    extractor: Extractor = SpacyExtractor(pipeline())
    chunk = chunk_of(TEXT)
    said, nothing = await extractor.extract([chunk, chunk_of("Nothing is here.")])
    assert (nothing.entities, nothing.relations) == ((), ())
    found = ground(said, chunk)
    assert {one.name: (one.type, len(one.spans)) for one in found.entities} == {
        "Marie Curie": ("Person", 3), "Paris": ("Location", 3), "Sorbonne": ("Organization", 1),
        "TP53": ("GENE", 1),
    }  # fmt: skip
    assert all(TEXT[start:end] == one.name for one in found.entities for start, end in one.spans)
    first = found.relations[0]
    assert (first.source, first.target, first.weight) == ("Marie Curie", "Paris", 2.0)
    assert (first.type, first.fact) == ("OCCURS_WITH", "Marie Curie lived in Paris.")
    assert found.dropped == {}
    assert await extractor.forecast([chunk]) == ExtractionForecast()


@pytest.mark.parametrize("pipeline", PIPELINES)
def test_a_pipeline_has_the_signature_of_its_patterns_and_types(pipeline: Any) -> None:
    one = SpacyExtractor(pipeline())
    assert one.signature == SpacyExtractor(pipeline()).signature
    assert one.signature != SpacyExtractor(pipeline(), types={"GENE": "Gene"}).signature
    assert one.signature != SpacyExtractor(pipeline(), version="2").signature
    other = FakePipeline({**LABELS, "Rome": "GPE"})
    assert SpacyExtractor(other).signature != SpacyExtractor(FakePipeline(LABELS)).signature


async def test_types_are_renamed_and_left_out() -> None:
    types = {"GENE": "Gene", "ORG": "", "CARDINAL": "Number"}
    extractor = SpacyExtractor(FakePipeline(LABELS), types=types)
    (said,) = await extractor.extract([chunk_of(TEXT)])
    assert [(one.name, one.type) for one in said.entities] == [
        ("Marie Curie", "Person"), ("Paris", "Location"), ("two", "Number"), ("TP53", "Gene"),
    ]  # fmt: skip


def test_spacy_and_its_pipelines_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    def load(name: str) -> FakePipeline:
        if name == "missing":
            raise OSError("[E050] Can't find model 'missing'")
        return FakePipeline({name: "PERSON"})

    monkeypatch.setitem(sys.modules, "spacy", SimpleNamespace(load=load))
    assert SpacyExtractor("installed").pipeline.names == {"installed": "PERSON"}
    with pytest.raises(ConfigError, match="no pipeline missing; install it, as in"):
        SpacyExtractor("missing")
    monkeypatch.setitem(sys.modules, "spacy", None)
    with pytest.raises(ConfigError, match=r"pip install 'pgs-neo4j\[spacy\]'"):
        SpacyExtractor("installed")


async def test_a_model_of_gliner_is_shown_sentences_and_asked_for_types() -> None:
    many = TEXT + "".join(f" Sentence {number} is filling up the text." for number in range(80))
    chunk = chunk_of(many + " Marie Curie lived in Warsaw.")
    names = {"Marie Curie": "person", "Warsaw": "location", "TP53": "gene"}
    model = FakeGliner(names)
    extractor: Extractor = GlinerExtractor(model, types=("Person", "Location"), name="fake")
    (said,) = await extractor.extract([chunk])
    assert "".join(model.texts) == chunk.text
    assert max(map(len, model.texts)) <= WINDOW
    found = ground(said, chunk)
    assert {one.name: (one.type, len(one.spans)) for one in found.entities} == {
        "Marie Curie": ("Person", 4), "Warsaw": ("Location", 1),
    }  # fmt: skip
    assert [one.fact for one in found.relations] == ["Marie Curie lived in Warsaw."]
    assert await extractor.forecast([chunk]) == ExtractionForecast()


async def test_the_threshold_and_the_types_of_gliner_are_of_its_signature() -> None:
    model = FakeGliner({"Paris": "location"})
    options: tuple[dict[str, Any], ...] = (
        {"name": "fake"}, {"threshold": 0.95, "name": "fake"},
        {"types": ("Person",), "name": "fake"}, {"name": "other"},
    )  # fmt: skip
    signatures = [GlinerExtractor(model, **given).signature for given in options]
    assert len({*signatures}) == 4
    assert signatures[0] == GlinerExtractor(FakeGliner({}), name="fake").signature
    (said,) = await GlinerExtractor(model, threshold=0.95).extract([chunk_of(TEXT)])
    assert said.entities == ()


def test_no_model_of_gliner_is_downloaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, bool]] = []

    class GLiNER:
        @classmethod
        def from_pretrained(cls, name: str, *, local_files_only: bool = False) -> FakeGliner:
            asked.append((name, local_files_only))
            return FakeGliner({})

    monkeypatch.setitem(sys.modules, "gliner", SimpleNamespace(GLiNER=GLiNER))
    with pytest.raises(ConfigError, match="download one yourself, and name"):
        GlinerExtractor("urchade/gliner_small")
    assert asked == []
    assert GlinerExtractor(tmp_path).name == tmp_path.name
    assert asked == [(str(tmp_path), True)]
    monkeypatch.setitem(sys.modules, "gliner", None)
    with pytest.raises(ConfigError, match="pip install gliner"):
        GlinerExtractor(tmp_path)


def test_what_is_no_name_is_counted_and_entities_are_bounded() -> None:
    text = "It is x. " + " ".join(f"Name{number}" for number in range(MOST_ENTITIES + 5))
    chunk = chunk_of(text)
    places = [TaggedPlace(0, 2, "Person"), TaggedPlace(6, 7, "Person")]
    start = 9
    for word in text[9:].split(" "):
        places.append(TaggedPlace(start, start + len(word), "Person"))
        start += len(word) + 1
    said = build_extraction(chunk, reversed(places))
    assert len(said.entities) == MOST_ENTITIES
    assert said.dropped == {"pronoun": 1, "no name": 1, "too many": 5}
    assert len(said.relations) == MOST_PAIRS


def test_windows_tile_a_text_also_one_of_long_sentences() -> None:
    text = "word " * WINDOW + ". Short. " + "x" * (WINDOW - 50) + ". End."
    chunk = chunk_of(text)
    found = [*windows(chunk)]
    assert [start for start, _ in found] == [0, *(end for _, end in found[:-1])]
    assert "".join(chunk.text[start:end] for start, end in found) == text
    assert [*windows(Chunk(index=0, start=0, end=0, text="", hash="", sentences=()))] == []
