"""The texts of a graph are read without what is deleted beside them."""

from __future__ import annotations

from pgs_neo4j.analogies.order import AnalogyOrder
from pgs_neo4j.analogies.texts import read_texts
from pgs_neo4j.config import PGSConfig
from pgs_neo4j.model import GraphMapping
from tests.fakes.disturbed import NamedDriver, database_of
from tests.unit.analogies.conftest import analogy_tools

KEPT = {"element_id": "4:x:1", "text": ["A market empties."], "title": "one", "key": "one"}
LOST = {"element_id": "4:x:2", "text": [None], "title": None, "key": None}
ORDER = AnalogyOrder("notes", GraphMapping(labels=("Note",), text=("body",)), PGSConfig())


async def test_a_node_that_lost_its_text_while_it_was_read_has_no_text() -> None:
    driver = NamedDriver([], answers={"analogies/read_texts": [[LOST, KEPT, LOST]]})
    texts = await read_texts(ORDER, analogy_tools(None, db=database_of(driver)))
    assert [one.whole for one in texts] == ["one\nA market empties."]
