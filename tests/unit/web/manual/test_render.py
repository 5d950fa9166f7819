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
