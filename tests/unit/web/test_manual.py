"""Every page of the manual is served whole, to anyone, and to nobody under a foreign name."""

from __future__ import annotations

import gzip
import re
from collections.abc import AsyncIterator

import httpx2
import pytest

from pgs_neo4j.manual import TOPICS
from pgs_neo4j.web.access.guard import POLICY
from pgs_neo4j.web.manual import ROOT, ManualHeading, manual_page, render_page, slug_of
from pgs_neo4j.web.page import page_files
from tests.in_process import in_process, serving_of

TAGS = {
    *("html", "head", "meta", "title", "link", "body", "header", "nav", "main", "div", "ul", "ol"),
    *("li", "a", "p", "h1", "h2", "h3", "h4", "pre", "code", "strong", "em", "br", "hr"),
    *("table", "thead", "tbody", "tr", "th", "td", "blockquote"),
}
ATTRIBUTES = {
    *("lang", "charset", "name", "content", "rel", "href", "type", "class", "id", "tabindex"),
    *("aria-label", "aria-current", "start"),
}
TAG = re.compile(r"<([a-z]\w*)((?:[^>\"]|\"[^\"]*\")*)>")
PAGES = ("", *TOPICS)


def page(topic: str) -> str:
    return manual_page(topic).body.decode()


@pytest.fixture
async def client() -> AsyncIterator[httpx2.AsyncClient]:
    """A client without a token, of a server without an engine."""
    async with in_process(serving_of(object())) as opened:
        yield opened


def test_pages_have_only_what_markdown_makes_and_links_that_lead_somewhere() -> None:
    ids = {topic: re.findall(r' id="([^"]*)"', page(topic)) for topic in PAGES}
    places = {f"{ROOT}/{topic}": ids[topic] for topic in TOPICS}
    files = {f"/{name}" for name in page_files()} | {"/", ROOT}
    for topic in PAGES:
        assert len(ids[topic]) == len(set(ids[topic]))
        for tag, given in TAG.findall(page(topic)):
            assert tag in TAGS
            assert {*re.findall(r'([\w-]+)(?:="[^"]*")?', given)} <= ATTRIBUTES, given
            assert not re.fullmatch("h[1-6]", tag) or ' id="' in given
        for link in re.findall(r' href="([^"]*)"', page(topic)):
            way, _, place = link.partition("#")
            assert not way or way in places.keys() | files or way.startswith("https://"), link
            assert not place or place in (places[way] if way else ids[topic]), link


async def test_a_page_needs_no_token_and_loads_nothing_from_elsewhere(
    client: httpx2.AsyncClient,
) -> None:
    for topic in PAGES:
        answer = await client.get(f"{ROOT}/{topic}".rstrip("/"))
        assert answer.status_code == 200, topic
        assert answer.headers["content-type"] == "text/html; charset=utf-8"
        assert answer.headers["content-security-policy"] == POLICY
        assert not re.search(r"<script|<style|style=|src=|<link[^>]+https", answer.text)
        again = await client.get(answer.url, headers={"If-None-Match": answer.headers["etag"]})
        assert again.status_code == 304
    foreign = await client.get(f"{ROOT}/concepts", headers={"Host": "evil.example"})
    assert foreign.status_code == 421
    for way in (ROOT, f"{ROOT}/"):
        listed = (await client.get(way)).text
        assert all(f'href="{ROOT}/{topic}"' in listed for topic in TOPICS)
        assert all(about.split(",")[0] in listed for about in TOPICS.values())


async def test_only_topics_are_pages(client: httpx2.AsyncClient) -> None:
    for topic in (
        *("nothing", "concepts.md", "Concepts", "__init__.py", "concepts/", "concepts%00"),
        *("..%2f..%2fpyproject.toml", "%2e%2e/%2e%2e/errors.py", "..%5cerrors", "%2fetc%2fpasswd"),
        *("../errors", "concepts%2f..%2fsettings"),
    ):
        answer = await client.get(f"{ROOT}/{topic}")
        manual = answer.url.path.startswith(ROOT)
        assert answer.status_code == (404 if manual else 200), topic
        assert "import" not in answer.text
        assert manual or answer.content == page_files()["index.html"].body


def test_the_current_topic_is_marked_and_shows_its_sections() -> None:
    assert '<a href="/manual/concepts" aria-current="page">concepts</a>' in page("concepts")
    assert '<li><a href="#glossary">Glossary</a></li>' in page("concepts")
    assert (page("concepts").count("aria-current"), page("").count("aria-current")) == (1, 0)
    large = manual_page("settings")
    assert gzip.decompress(large.packed) == large.body
    assert len(large.packed) < len(large.body) / 2


def body(markdown: str) -> str:
    return render_page(markdown, "/manual").body


@pytest.mark.parametrize(
    "hostile",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "a <b onclick='x()'>bold</b> word",
        "```sh\n</code></pre><script>x</script>\n```",
        "| a |\n|---|\n| <iframe src=x> |",
        "# <svg onload=x>",
        "`<script>`",
    ],
)
def test_raw_html_is_shown_as_text(hostile: str) -> None:
    made = body(hostile)
    assert "&lt;" in made
    for tag in ("<script", "<img", "<b ", "<iframe", "<svg"):
        assert tag not in made


def test_a_heading_has_an_id_and_a_repeated_one_a_number() -> None:
    page = render_page("# One\n\n## Keys of `[[token]]`\n\n## One\n\n## One\n", "/manual")
    assert page.title == "One"
    assert page.headings[1] == ManualHeading(2, "Keys of [[token]]", "keys-of-token")
    assert [heading.slug for heading in page.headings] == ["one", "keys-of-token", "one-1", "one-2"]
    assert '<h2 id="one-2">' in page.body


def test_ids_are_those_of_github() -> None:
    assert slug_of("One question, step by step") == "one-question-step-by-step"
    assert slug_of("GET /api/runs/{run}") == "get-apirunsrun"
    assert slug_of("sweep_started") == "sweep_started"


@pytest.mark.parametrize(
    ("markdown", "made"),
    [
        ("[x](mcp.md#in-llamaindex)", '<a href="/manual/mcp#in-llamaindex"'),
        ("[x](data-model.md)", '<a href="/manual/data-model"'),
        ("[x](#analogies)", '<a href="#analogies"'),
        ("[x](https://neo4j.com)", '<a href="https://neo4j.com" rel="noreferrer">'),
        ("| a | b |\n|---|---:|\n| 1 | 2 |\n", '<td>1</td>\n<td class="right">2</td>'),
        ("| a |\n|---|\n| 1 |\n", '<div class="scroll" tabindex="0">\n<table>'),
        ("```sh\npgs help\n```\n", '<pre tabindex="0"><code>pgs help\n</code></pre>'),
    ],
    ids=["page", "page alone", "place", "outside", "right column", "wide table", "wide code"],
)
def test_links_lead_there_and_what_may_be_wide_scrolls_by_keyboard(
    markdown: str, made: str
) -> None:
    assert made in body(markdown)
    assert "style=" not in body(markdown)


@pytest.mark.parametrize("target", ["javascript:alert(1)", "data:text/html,x", "vbscript:x"])
def test_a_link_to_a_script_is_no_link(target: str) -> None:
    assert "<a " not in body(f"[here]({target})")
