"""Every page of the manual is served whole, to anyone, and to nobody under a foreign name."""

from __future__ import annotations

import gzip
import re
from collections.abc import AsyncIterator
from html.parser import HTMLParser

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


class Reader(HTMLParser):
    """Notes the tags of a page, its ids, and where its links lead."""

    def __init__(self, topic: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.unnamed: list[str] = []
        self.feed(manual_page(topic).body.decode())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.tags.add(tag)
        self.attributes |= given.keys()
        if "id" in given:
            self.ids.append(given["id"])
        elif re.fullmatch("h[1-6]", tag):
            self.unnamed.append(tag)
        if "href" in given:
            self.links.append(given["href"])


PAGES = ("", *TOPICS)


@pytest.fixture
async def client() -> AsyncIterator[httpx2.AsyncClient]:
    """A client without a token, of a server without an engine."""
    async with in_process(serving_of(object())) as opened:
        yield opened


@pytest.fixture(scope="module")
def pages() -> dict[str, Reader]:
    """All pages, by their topic."""
    return {topic: Reader(topic) for topic in PAGES}


@pytest.mark.parametrize("topic", PAGES)
def test_a_page_has_only_what_markdown_makes_and_links_that_lead_somewhere(
    pages: dict[str, Reader], topic: str
) -> None:
    page = pages[topic]
    assert page.tags <= TAGS
    assert page.attributes <= ATTRIBUTES
    assert page.unnamed == []
    assert len(page.ids) == len(set(page.ids))
    ids = {f"{ROOT}/{one}": set(pages[one].ids) for one in TOPICS} | {"": set(page.ids)}
    files = {f"/{name}" for name in page_files()} | {"/", ROOT}
    for link in page.links:
        way, _, place = link.partition("#")
        assert way in ids.keys() | files or way.startswith("https://"), link
        assert not place or place in ids[way], link


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
    page = manual_page("concepts").body.decode()
    assert '<a href="/manual/concepts" aria-current="page">concepts</a>' in page
    assert '<li><a href="#glossary">Glossary</a></li>' in page
    assert page.count("aria-current") == 1
    assert "aria-current" not in manual_page("").body.decode()
    large = manual_page("settings")
    assert gzip.decompress(large.packed) == large.body
    assert len(large.packed) < len(large.body) / 2


def test_the_page_does_not_show_the_manual_as_a_view() -> None:
    script = page_files()["app.js"].body.decode()
    assert r"/^\/(api|manual)(\/|$)/" in script
    assert "OTHER_PAGES.test(way)" in script
    assert 'href: "/manual"' in page_files()["help.js"].body.decode()
