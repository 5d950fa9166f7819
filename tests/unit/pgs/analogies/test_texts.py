"""The texts of a graph are read without what is deleted beside them."""

from __future__ import annotations

import pytest

from pgs_neo4j.config import PGSConfig
from pgs_neo4j.database import repeats
from pgs_neo4j.database.repeats import PAUSES_S
from pgs_neo4j.errors import GraphChangedError
from pgs_neo4j.model import GraphMapping
from pgs_neo4j.pgs.analogies.order import AnalogyOrder
from pgs_neo4j.pgs.analogies.texts import read_texts
from tests.fakes.disturbed import NamedDriver, database_of, refusal
from tests.unit.pgs.analogies.conftest import analogy_tools

KEPT = {"element_id": "4:x:1", "text": ["A market empties."], "title": "one", "key": "one"}
LOST = {"element_id": "4:x:2", "text": [None], "title": None, "key": None}
ORDER = AnalogyOrder("notes", GraphMapping(labels=("Note",), text=("body",)), PGSConfig())


async def test_a_node_that_lost_its_text_while_it_was_read_has_no_text() -> None:
    driver = NamedDriver([], answers={"pgs/analogies/read_texts": [[LOST, KEPT, LOST]]})
    texts = await read_texts(ORDER, analogy_tools(None, db=database_of(driver)))
    assert [one.whole for one in texts] == ["one\nA market empties."]


async def test_texts_that_are_deleted_without_end_are_read_six_times(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(repeats, "PAUSES_S", (0.0,) * len(PAUSES_S))
    driver = NamedDriver([], answers={"pgs/analogies/read_texts": [refusal()]})
    with pytest.raises(GraphChangedError):
        await read_texts(ORDER, analogy_tools(None, db=database_of(driver)))
    assert driver.count("pgs/analogies/read_texts") == len(PAUSES_S) + 1
    driver = NamedDriver([], answers={"pgs/analogies/read_texts": [[KEPT, refusal()], [KEPT]]})
    texts = await read_texts(ORDER, analogy_tools(None, db=database_of(driver)))
    assert len(texts) == 1
