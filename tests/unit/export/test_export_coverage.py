"""Coverage in words: texts rather than nodes, and this answer before its session."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pgs_neo4j.export import figures, to_html, to_markdown, to_notebook
from pgs_neo4j.export.json_text import answer_data
from pgs_neo4j.model import Coverage
from pgs_neo4j.text.shown import texts_note
from tests.unit.export.conftest import make_answer, make_document

OWN = Coverage(
    partitions_swept=1, partitions_total=4, nodes_read=30, nodes_total=160, texts_read=12,
    texts_total=120,
)  # fmt: skip
SESSION = replace(OWN, partitions_swept=2, nodes_read=70, texts_read=60)


@pytest.mark.parametrize(
    ("read", "texts_read", "texts_total", "line"),
    [
        (40, 40, 160, "40 of 160 nodes, all with text (25 %)"),
        (40, 39, 160, "40 of 160 nodes, 39 of 160 texts (24 %)"),
        (160, 30, 120, "160 of 160 nodes, 30 of 120 texts (25 %)"),
        (160, 0, 0, "160 of 160 nodes, 0 with text"),
        (0, None, None, "0 of 160 nodes (0 %; texts not counted)"),
    ],
)
def test_coverage_speaks_of_texts(
    read: int, texts_read: int | None, texts_total: int | None, line: str
) -> None:
    coverage = replace(OWN, nodes_read=read, texts_read=texts_read, texts_total=texts_total)
    assert figures.reading_line(coverage) == line


def test_what_was_shown_without_proof_stands_beside_what_was_read() -> None:
    coverage = replace(OWN, nodes_unproven=1_200)
    line = "30 of 160 nodes (1,200 more shown, unproven), 12 of 120 texts (10 %)"
    assert figures.reading_line(coverage) == line
    assert 'class="pgs-shown"' in coverage._repr_html_()
    assert 'class="pgs-shown"' not in OWN._repr_html_()


@pytest.mark.parametrize(
    ("texts", "note"),
    [(9, ""), (4, ", 4 of them with text"), (0, ", none of them with text")],
)
def test_nodes_without_text_are_told(texts: int, note: str) -> None:
    assert texts_note(9, texts) == note


def test_the_headline_is_the_coverage_of_this_answer() -> None:
    answer = replace(make_answer(), coverage=SESSION, own_coverage=OWN)
    document = replace(make_document(), answer=answer)
    own = "1 of 4 partitions, 30 of 160 nodes, 12 of 120 texts (10 %) for this answer"
    session = f"70 of 160 nodes, 60 of 120 texts (50 %) in session {answer.session} so far"
    for text in (to_markdown(document), to_html(document), to_notebook(answer)):
        assert 0 < text.index(own) < text.index(session)
    data = answer_data(answer)
    assert data["own_coverage"]["texts_read"] == 12
    assert data["coverage"]["fraction"] == 0.5


def test_a_graph_without_text_is_noted_and_never_covered() -> None:
    coverage = replace(SESSION, nodes_read=160, texts_read=0, texts_total=0)
    assert coverage.fraction == 0.0
    assert figures.NO_TEXT in figures.notes(replace(make_answer(), coverage=coverage))
