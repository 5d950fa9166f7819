"""Pages are read in time in proportion to their size: what the parser sees, and what is refused."""

from __future__ import annotations

import pytest

from pgs_neo4j.documents.read.docx import read_docx
from pgs_neo4j.documents.read.html import read_html
from pgs_neo4j.documents.read.limits import MOST_ATTRIBUTES, MOST_OPTIONS
from pgs_neo4j.documents.read.markup import bound_markup
from pgs_neo4j.errors import InputFileError
from tests.papers_by_hand import make_docx, paragraph

MANY = " ".join(f"a{number}" for number in range(MOST_ATTRIBUTES + 1))
OPTIONS = "<option>a" * MOST_OPTIONS


@pytest.mark.parametrize(
    "tag",
    [
        f"<p {MANY}>",
        f"<p {MANY}",
        "<P" + " a='>'" * 1001 + ">",
        "<p" + '/a = ">"' * 1001 + ">",
        "<p =" + " b=c" * 1000 + ">",
        f"<script></script><p {MANY}>",
        f"<!-- --><p {MANY}>",
    ],
)
def test_a_tag_of_more_attributes_than_any_page_has_is_refused(tag: str) -> None:
    with pytest.raises(InputFileError, match=r"one of its tags has more than 1,000 attributes"):
        read_html(f"<p>a</p>{tag}b".encode())


@pytest.mark.parametrize(
    "page",
    [
        f"<p {MANY.partition(' ')[2]}>a</p>",
        f"<script>if (a<b {MANY}</script><p>a</p>",
        f"<style><b {MANY}</style><p>a</p>",
        f"<!-- <b {MANY} --><p>a</p>",
        f"<p title='<b {MANY}'>a</p>",
    ],
)
def test_what_only_looks_like_such_a_tag_is_read(page: str) -> None:
    assert read_html(page.encode())[0].text == "a"


def test_lists_of_many_options_are_parsed_as_those_that_allow_several() -> None:
    page = f"<SELECT size=1>{OPTIONS}<option selected>b</SELECT><textarea><select></textarea>"
    assert bound_markup(page) == page.replace("<SELECT", "<SELECT multiple")
    assert read_html(page.encode())[0].text == "b <select>"
    few = page.replace("<option>a", "", 1)
    assert bound_markup(few) == few


def test_a_text_within_a_text_of_a_drawing_is_read_once() -> None:
    page = "<svg><text>a<text>b</text>c</text><foreignObject><p>d</p>e</foreignObject></svg>"
    assert read_html(page.encode())[0].text == "abc de"
    deep = "<svg>" + "<text>a" * 1000
    assert read_html(deep.encode())[0].text == "a" * 1000


def test_an_element_of_a_docx_with_more_attributes_than_any_has_is_refused() -> None:
    many = " ".join(f'a{number}=""' for number in range(MOST_ATTRIBUTES + 1))
    body = f"{paragraph('a')}<w:p {many}/>"
    with pytest.raises(InputFileError, match=r"elements has more than 1,000 attributes"):
        read_docx(make_docx(body))
    with pytest.raises(InputFileError, match=r"elements has more than 1,000 attributes"):
        read_docx(make_docx(paragraph("a"), {"word/header9.xml": f"<h><b {many}/></h>"}))
    few = many.rpartition(" ")[0]
    assert read_docx(make_docx(f"{paragraph('a')}<w:p {few}/>"))[0].text == "a"


def test_a_part_that_nothing_reads_may_be_broken_behind_its_beginning() -> None:
    assert read_docx(make_docx(paragraph("a"), {"custom/one.xml": "<a><b></a>"}))[0].text == "a"


@pytest.mark.parametrize(
    "html",
    [
        "<div>" * 60_000 + "a",
        "<div>" * 1_000 + "<p>a</p>" * 600_000,
        "<table><tr><td>" * 60_000 + "a",
        "<ul><li>a" * 60_000,
        "<b><i>" * 30_000 + "a",
        # Tags that end nothing come after the last one that begins an element.
        "<svg>" + "<g>" * 40_000 + "</h>" * 40_000,
        # A tag ends itself only in a drawing, and these have ended the drawing, or hold HTML.
        "<svg><p>" + "<div/>" * 60_000,
        "<svg>" + "<div/>" * 60_000,
        "<svg></p>" + "<section/>" * 60_000,
        "<math><b>" + "<section/>" * 60_000,
        "<svg><font color=red>" + "<section/>" * 60_000,
        "<svg><foreignObject>" + "<section/>" * 60_000,
        "<svg/>" + "<section/>" * 60_000,
        "<svg><g></svg>" + "<section/>" * 60_000,
    ],
)
def test_tags_that_are_nested_too_deeply_for_their_number_are_refused(html: str) -> None:
    with pytest.raises(InputFileError, match="its tags are nested more deeply"):
        bound_markup(html)


@pytest.mark.parametrize(
    "html",
    [
        "<p>a" * 60_000,
        "<ul>" + "<li>a" * 60_000,
        "<div>a</div>" * 60_000,
        "<table>" + "<tr><td>a" * 60_000,
        "<svg>" + "<path d='M0'/>" * 60_000 + "</svg>",
        "<svg><foreignObject><p>a</p></foreignObject>" + "<path/>" * 60_000 + "</svg>",
        "<svg><font horiz-adv-x='9'>" + "<glyph/>" * 60_000 + "</font></svg>",
        "<math><mi>a</mi>" + "<mspace/>" * 60_000 + "</math>",
        "<svg/>" * 60_000,
        "a<br>" * 60_000,
        "<div>" * 3_000 + "a",
    ],
)
def test_many_tags_beside_each_other_are_no_depth(html: str) -> None:
    assert bound_markup(html) == html
