"""Labels, types, properties, keys, and titles that nobody would choose, from graph to file."""

from __future__ import annotations

import json

from markdown_it import MarkdownIt

from pgs_neo4j.database.connection import Database
from pgs_neo4j.export import to_html, to_json, to_markdown
from pgs_neo4j.model import GraphMapping
from pgs_neo4j.text.invisible import INVISIBLE
from tests.conftest import Endpoint
from tests.database import alter
from tests.engines import KNOBS, engine_on

LABEL, TYPE = "La`bel 'x' \"y\"\n) DETACH DELETE n //", "תוית`]->() 👩\u200d💻"
TEXT, TITLE, KEY = "te`xt}\\", "ti'tle\u202e", "k.e.y` IS NULL OR"
TITLES = [
    "<script>alert(1)</script>", "[x](javascript:alert(1))", "<javascript:alert(1)>",
    "zipfile.ZipFile.__init__", "\x1b]0;owned\x07", "hid\u200bden\U000e0041", "مرحبا\u202e",
    "**bold** | `code`", "two\nlines\r\n# Heading", "long " * 2_000,
]  # fmt: skip
CREATE = """
UNWIND range(0, 29) AS i
CREATE (n:$($label)) SET n[$key] = $prefix + i, n[$text] = $titles[i % 10] + ' says ' + i
SET n[$title] = $titles[i % 10]
WITH collect(n) AS nodes UNWIND range(1, 29) AS i
WITH nodes[i - 1] AS a, nodes[i] AS b CREATE (a)-[:$($type)]->(b)
"""


async def test_hostile_names_are_data_from_the_graph_to_the_file(
    endpoint: Endpoint, db: Database
) -> None:
    given = {"label": LABEL, "type": TYPE, "text": TEXT, "title": TITLE, "key": KEY}
    await alter(db, CREATE, **given, titles=TITLES, prefix="key'`\u200b")
    mapping = GraphMapping(
        labels=(LABEL,), relationship_types=(TYPE,), text=(TEXT,), title=TITLE, key=KEY
    )
    async with engine_on(endpoint, **KNOBS) as engine:
        await engine.graphs.add("odd", mapping)
        answer = await engine.execute("What says `hid\u200bden` & <b>?", graph="odd")
        assert answer.coverage.nodes_read == answer.coverage.nodes_total == 30
        document = await engine.runs.document(answer.run)
    page, written, data = to_html(document), to_markdown(document), to_json(document)
    tokens = MarkdownIt("commonmark").enable("table").parse(written)
    kinds = {token.type for token in tokens}
    kinds |= {child.type for token in tokens for child in token.children or ()}
    assert not kinds & {"html_block", "html_inline", "link_open", "image"}
    assert "<script" not in page
    assert not any(INVISIBLE.search(text.replace("\n", "")) for text in (page, written, data))
    assert json.loads(data)["question"] == answer.question
