"""Markdown of the manual becomes HTML that the policy of the server allows."""

from __future__ import annotations

import pytest

from pgs_neo4j.web.manual.render import ManualHeading, render_page, slug_of


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


@pytest.mark.parametrize("target", ["javascript:alert(1)", "data:text/html,x", "vbscript:x"])
def test_a_link_to_a_script_is_no_link(target: str) -> None:
    assert "<a " not in body(f"[here]({target})")


def test_a_heading_has_an_id_and_a_repeated_one_a_number() -> None:
    page = render_page("# One\n\n## Keys of `[[token]]`\n\n## One\n\n## One\n", "/manual")
    assert page.title == "One"
    assert page.headings[1] == ManualHeading(2, "Keys of [[token]]", "keys-of-token")
    assert [heading.slug for heading in page.headings] == ["one", "keys-of-token", "one-1", "one-2"]
    assert '<h2 id="one-2">' in page.body


@pytest.mark.parametrize(
    ("title", "slug"),
    [
        ("Which secret goes where", "which-secret-goes-where"),
        ("One question, step by step", "one-question-step-by-step"),
        ("GET /api/runs/{run}", "get-apirunsrun"),
        ("sweep_started", "sweep_started"),
    ],
)
def test_ids_are_those_of_github(title: str, slug: str) -> None:
    assert slug_of(title) == slug


def test_links_lead_to_pages_of_the_server_and_outside() -> None:
    assert 'href="/manual/mcp#in-llamaindex"' in body("[x](mcp.md#in-llamaindex)")
    assert 'href="/manual/data-model"' in body("[x](data-model.md)")
    assert 'href="#analogies"' in body("[x](#analogies)")
    assert '<a href="https://neo4j.com" rel="noreferrer">' in body("[x](https://neo4j.com)")


def test_columns_are_aligned_without_a_style() -> None:
    made = body("| a | b |\n|---|---:|\n| 1 | 2 |\n")
    assert "style=" not in made
    assert '<td class="right">2</td>' in made
    assert "<td>1</td>" in made


def test_what_may_be_wide_scrolls_by_keyboard() -> None:
    assert '<div class="scroll" tabindex="0">\n<table>' in body("| a |\n|---|\n| 1 |\n")
    assert '<pre tabindex="0"><code>pgs help\n</code></pre>' in body("```sh\npgs help\n```\n")
