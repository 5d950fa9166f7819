"""Whatever the texts are, the files are inert, whole, and can be written."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from pgs_neo4j.export import Document, to_html, to_json, to_markdown, to_notebook

MARKS = [
    "<script>", "</script>", "</style>", "<b", ">", "<!--", "-->", "]]>", "&lt;", "&#60;", "&", '"',
    "'", "`", "```\n", "~~~", "[P1:n2]", "[", "](javascript:x)", "![", "|", "\n", "\n\n", "# ",
    "- ", "> ", "*", "**", "_", "\\", "    ", "onclick=", "\x00", "\x1b[", "\u202e", "\ud800", "\r",
    "a", "<.`@b.c>", "]:", "](", "``", "<http://x.y>", "[a]: /x\n", "<div>\n", "|---|\n",
]  # fmt: skip
TEXTS = st.lists(st.one_of(st.sampled_from(MARKS), st.text(max_size=5)), max_size=14).map("".join)
LIVE = {"html_block", "html_inline", "link_open", "image"}
LAST = ["Coverage and cost", "Partitions", "Notes"]


@given(said=TEXTS, text=TEXTS)
@settings(max_examples=60, deadline=None)
def test_pages_are_inert(
    said: str, text: str, document_of: Callable[..., Document], parsed: Callable[[str], Any]
) -> None:
    document = document_of(said, text=text)
    page = to_html(document)
    page.encode("utf-8")
    found = parsed(page)
    assert len(found.having("style")) == len(found.having("main")) == 1
    assert len(found.having("div", "report")) == 3
    assert len(parsed(to_notebook(document.answer)).having("style")) == 1


@given(said=TEXTS, text=TEXTS)
@settings(max_examples=60, deadline=None)
def test_files_are_whole(said: str, text: str, document_of: Callable[..., Document]) -> None:
    document = document_of(said, text=text)
    value = json.loads(to_json(document))
    assert value["checked_absences"][0]["text"] == f"nothing on {said}"
    written = to_markdown(document)
    written.encode("utf-8")
    tokens = MarkdownIt("commonmark").enable("table").parse(written)
    titles = [
        tokens[place + 1].content
        for place, token in enumerate(tokens)
        if token.type == "heading_open" and token.level == 0
    ]
    assert titles[-3:] == LAST
    inside = [child.type for token in tokens for child in token.children or ()]
    assert not LIVE & {*inside, *(token.type for token in tokens)}
