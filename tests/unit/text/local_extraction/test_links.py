from __future__ import annotations

import pytest

from pgs_neo4j.text.local_extraction.links import (
    StatedRelation,
    find_headings,
    find_links,
    title_of,
)
from tests.unit.text.conftest import chunk_of


@pytest.mark.parametrize(
    ("heading", "title"),
    [
        ("# Title\n", "Title"),
        ("## Title ##\n", "Title"),
        ("# **Bold** and `code`\n", "Bold and code"),
        ("# [Link](http://x.y) here\n", "Link here"),
        ("# snake_case _marked_\n", "snake_case marked"),
        ("# Arrow \u2192\n", "Arrow"),
        ("# " + "x" * 90 + "\n", ""),
    ],
)
def test_titles_have_no_marks(heading: str, title: str) -> None:
    assert title_of(heading) == title


def test_a_heading_is_part_of_the_nearest_above() -> None:
    chunk = chunk_of("# A\n\n## B\n\n### C\n\n## D\n\n# E\n")
    assert list(find_headings(chunk)) == [
        StatedRelation("B", "part of", "A", 2),
        StatedRelation("C", "part of", "B", 3),
        StatedRelation("D", "part of", "A", 4),
    ]


def test_links_come_from_the_heading_above_them() -> None:
    chunk = chunk_of("# A\nSee [one](x) and ![image](y).\n\n## B\n[two][t], [B](z), [!!](w).\n")
    assert list(find_links(chunk)) == [
        StatedRelation("A", "links to", "one", 2),
        StatedRelation("B", "links to", "two", 4),
    ]
    assert list(find_links(chunk_of("See [Cypher](https://x.y)."))) == []
