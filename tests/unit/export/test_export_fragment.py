"""An answer as a part of another page."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pgs_neo4j.export import Document, to_fragment, to_html
from tests.unit.export.conftest import located

Make = Callable[..., Document]
Parse = Callable[[str], Any]


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
