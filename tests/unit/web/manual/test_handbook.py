"""Every page of the manual is served whole, to anyone, and to nobody under a foreign name."""

from __future__ import annotations

import gzip
import re
from collections.abc import AsyncIterator

import httpx2
import pytest

from pgs_neo4j.manual import TOPICS
from pgs_neo4j.web.access.guard import POLICY
from pgs_neo4j.web.manual.handbook import ROOT, manual_page
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
