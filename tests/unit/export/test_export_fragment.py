"""An answer as a part of another page."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from pgs_neo4j.export import Document, to_fragment, to_html

Make = Callable[..., Document]
Parse = Callable[[str], Any]


def located(document: Document, element_id: str) -> Document:
    """The document with an element id for the valid citations of its answer."""
    answer = document.answer
    citations = tuple(
        replace(one, element_id=element_id) if one.valid else one
        for one in answer.synthesis.citations
    )
    return replace(
        document, answer=replace(answer, synthesis=replace(answer.synthesis, citations=citations))
    )


def test_a_fragment_is_the_body_of_the_page_without_its_head(
    document_of: Make, parsed: Parse
) -> None:
    document = document_of()
    fragment, page = parsed(to_fragment(document)), parsed(to_html(document))
    assert {"html", "head", "meta", "style", "body", "main"}.isdisjoint(
        each.tag for each in fragment.elements
    )
    (answer,), (main,) = fragment.having("div", "answer"), page.having("main")
    assert main.text.startswith(answer.text)
    assert fragment.ids == page.ids


def test_nodes_that_the_database_has_carry_their_element_id(
    document_of: Make, parsed: Parse
) -> None:
    document = located(document_of(), "4:db:7")
    nodes = parsed(to_fragment(document)).having("div", "node")
    addressed = [each for each in nodes if each.attributes.get("data-node") == "4:db:7"]
    valid = {(one.partition, one.alias) for one in document.answer.synthesis.citations if one.valid}
    assert len(addressed) == len(valid)
    assert len(addressed) < len(nodes)
    assert "data-node" not in to_html(document)


def test_hostile_text_is_only_shown_in_a_fragment(
    hostile: str, document_of: Make, parsed: Parse
) -> None:
    document = located(document_of(hostile, text=f"## Thesis\n{hostile} [P1:n2]"), hostile)
    fragment = parsed(to_fragment(document))  # the parser refuses what is not inert
    assert len(fragment.having("div", "answer")) == 1
