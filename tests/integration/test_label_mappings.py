"""An existing graph whose labels have names, keys, and texts of their own, from inspection on."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from pgs_neo4j.database.connection import Database
from pgs_neo4j.engine import PGS, propose
from pgs_neo4j.errors import MappingError
from pgs_neo4j.llm.scripted import ScriptedLLM
from pgs_neo4j.model import GraphMapping, Prompt
from tests.conftest import Endpoint
from tests.database import alter, fetch
from tests.engines import KNOBS, engine_on

# Synthetic rows with the property names of a well-known sales database.
SHOP = """
UNWIND range(0, 5) AS c
CREATE (k:Category {
  categoryID: toString(c), categoryName: ['Teas', 'Sauces', 'Sweets', 'Grains', 'Fish', 'Ices'][c],
  description: 'Goods of the kind number ' + c + ' that people like to buy',
  picture: '0x151C2F00020000000D000E00140021' + c})
WITH c, k
UNWIND range(0, 9) AS i
WITH k, c, i, c * 10 + i AS n
CREATE (p:Product {
  productID: toString(n), productName: k.categoryName + ' blend ' + ['Alba', 'Bora'][i % 2] + i,
  quantityPerUnit: (i + 1) + ' boxes x 20 bags', categoryID: toString(c), unitPrice: n + 0.5})
CREATE (u:Customer {
  customerID: 'C' + n, companyName: 'Company ' + ['Nord', 'Sued'][i % 2] + n,
  contactName: 'Person Number' + n, contactTitle: 'Sales Representative'})
CREATE (o:Order {
  orderID: toString(10000 + n), shipName: 'Company ' + ['Nord', 'Sued'][i % 2],
  orderDate: '1996-07-0' + (i % 9 + 1) + ' 00:00:00.000', shipAddress: '59 rue de la Paix ' + i})
CREATE (p)-[:PART_OF]->(k), (u)-[:PURCHASED]->(o), (o)-[:ORDERS]->(p)
"""
REPORT = (
    "## Domain State\nGoods.\n## Findings\n- goods of a shop [n1]\n## Outbound Flags\n- none\n"
    "## Absences\n- none"
)


def reply(prompt: Prompt) -> str:
    return REPORT if prompt.task == "sweep" else "## Thesis\nGoods [P1:n1]."


@pytest.fixture
async def shop(endpoint: Endpoint, db: Database) -> AsyncIterator[PGS]:
    """An engine on a shop that was inspected and stored as proposed."""
    await alter(db, SHOP)
    async with engine_on(endpoint, reply, **KNOBS) as pgs:
        mapping = propose(await pgs.survey()).mapping
        assert await pgs.graphs.validate(mapping) == []
        await pgs.graphs.add("shop", mapping)
        yield pgs


async def test_inspection_proposes_the_name_the_key_and_the_texts_of_each_label(shop: PGS) -> None:
    mapping = (await shop.graphs.get("shop")).mapping
    assert {*mapping.titles, mapping.title} == {
        *("Product.productName", "Category.categoryName", "companyName")
    }
    assert set(mapping.text) == {"productName", "categoryName", "companyName", "description"}
    keys = {"Customer.customerID", "Product.productID", "Category.categoryID", "Order.orderID"}
    assert {name.rpartition(".")[2] for name in {*mapping.keys, mapping.key or ""}} == {
        name.rpartition(".")[2] for name in keys
    }


async def test_every_node_with_a_name_is_shown_by_it(shop: PGS, db: Database) -> None:
    await shop.execute("What is sold?", graph="shop", full_sweep=True)
    names = {"Product": "productName", "Category": "categoryName", "Customer": "companyName"}
    seen = 0
    stored = {
        row["id"]: dict(row["values"])
        for row in await fetch(db, "MATCH (n) RETURN elementId(n) AS id, properties(n) AS values")
    }
    generation = await shop.partitions.generation("shop")
    for number in range(1, generation.partition_count + 1):
        page = await shop.browse.members("shop", number, limit=500)
        for member in page.members:
            values, (label,) = stored[member.element_id], member.labels
            title = f"Order {values['orderID']}" if label == "Order" else values[names[label]]
            assert member.title == title
            seen += 1
        node = await shop.browse.node("shop", page.members[0].element_id)
        assert node.title == page.members[0].title
    assert seen == 186


async def test_prompts_and_searches_have_the_texts_of_each_label_and_nothing_else(
    shop: PGS,
) -> None:
    await shop.execute("What is sold?", graph="shop", full_sweep=True)
    assert isinstance(shop.sweep_llm, ScriptedLLM)
    whole = "\n".join(str(prompt) for prompt in shop.sweep_llm.prompts)
    assert "Teas blend Alba0" in whole
    assert "Company Nord0" in whole
    for other in ("boxes x 20", "Sales Representative", "rue de la Paix", "Person Number"):
        assert other not in whole
    found = await shop.search("Teas blend Alba0", graph="shop", top_k=3)
    assert found.items[0].title == "Teas blend Alba0"


async def test_a_wrong_label_or_property_is_refused_with_the_one_that_is_meant(shop: PGS) -> None:
    for named, meant in (
        ("Prodct.productName", "Product.productName"),
        ("Product.producName", "productName"),
    ):
        with pytest.raises(MappingError, match=f"did you mean {meant}"):
            await shop.graphs.validate(GraphMapping(titles=(named,)))
        with pytest.raises(MappingError, match=f"did you mean {meant}"):
            await shop.graphs.validate(GraphMapping(text=(named,)))
    mistyped = GraphMapping(relationship_types=("Purchased", "PART_OF"))
    with pytest.raises(
        MappingError, match="no relationship has the type Purchased; did you mean P"
    ):
        await shop.graphs.validate(mistyped)
    mistyped = GraphMapping(labels=("Product", "Custmer"), text=("productName",))
    with pytest.raises(MappingError, match="no node has the label Custmer; did you mean Customer"):
        await shop.graphs.validate(mistyped)
    with pytest.raises(MappingError, match="add --label Order"):
        await shop.graphs.validate(GraphMapping(labels=("Product",), keys=("Order.orderID",)))
    with pytest.raises(MappingError, match="names no label"):
        await shop.graphs.validate(GraphMapping(titles=("productName",)))
    with pytest.raises(MappingError, match="reserved"):
        await shop.graphs.validate(GraphMapping(text=("PgsRun.question",)))
