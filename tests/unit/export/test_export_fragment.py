"""An answer as a part of another page."""

from __future__ import annotations

from pgs_neo4j.export import to_fragment, to_html
from tests.unit.export.conftest import located, make_document, parse


def test_a_fragment_is_the_body_of_the_page_without_its_head() -> None:
    document = make_document()
    fragment, page = parse(to_fragment(document)), parse(to_html(document))
    assert {"html", "head", "meta", "style", "body", "main"}.isdisjoint(
        each.tag for each in fragment.elements
    )
    (answer,), (main,) = fragment.having("div", "answer"), page.having("main")
    assert main.text.startswith(answer.text)
    assert fragment.ids == page.ids


def test_nodes_that_the_database_has_carry_their_element_id() -> None:
    document = located(make_document(), "4:db:7")
    nodes = parse(to_fragment(document)).having("div", "node")
    addressed = [each for each in nodes if each.attributes.get("data-node") == "4:db:7"]
    valid = {(one.partition, one.alias) for one in document.answer.synthesis.citations if one.valid}
    assert len(addressed) == len(valid)
    assert len(addressed) < len(nodes)
    assert "data-node" not in to_html(document)
