"""Renderers that disagree about Markdown agree about the files: nothing in them is live."""

from __future__ import annotations

import importlib
from collections import Counter
from collections.abc import Callable

import pytest

from pgs_neo4j.export import to_markdown
from pgs_neo4j.export.written import inert, inert_blocks
from pgs_neo4j.text.shown import one_line
from tests.renderers import Judge, Render, hostile_texts, markdown_it
from tests.thorough import tries
from tests.unit.export.conftest import make_document

TEXTS = hostile_texts(
    tries(200, 1_000)
)  # tests.bench.renderers judges 6,000 of them, in five renderers


def python_markdown() -> Render:
    """Python-Markdown, which knows neither fences nor tables."""
    return pytest.importorskip("markdown").markdown


def cmark_gfm() -> Render:
    """GitHub's renderer, which links bare addresses; it would let HTML pass."""
    library = pytest.importorskip("cmarkgfm")
    unsafe = importlib.import_module("cmarkgfm.cmark").Options.CMARK_OPT_UNSAFE
    return lambda text: library.github_flavored_markdown_to_html(text, unsafe)


RENDERERS = {
    "markdown-it": lambda: markdown_it,
    "Python-Markdown": python_markdown,
    "cmark-gfm": cmark_gfm,
}


@pytest.fixture(params=list(RENDERERS.values()), ids=list(RENDERERS))
def render(request: pytest.FixtureRequest) -> Render:
    """A renderer of Markdown."""
    chosen: Callable[[], Render] = request.param
    return chosen()


def test_graph_text_is_text_to_every_renderer(render: Render) -> None:
    for text in TEXTS:
        seen = Judge(render(f"{inert(text)}\n\nBefore {inert(text)} after."))
        line = one_line(text)
        assert seen.text == " ".join(f"{line} Before {line} after.".split()), text
        assert not seen.live, text
        assert set(seen.elements) <= {"p", "code"}, text


def test_an_answer_holds_nothing_that_is_live_to_any_renderer(render: Render) -> None:
    for text in TEXTS:
        written = inert_blocks(text, lambda group: f"[{inert(group[0].text)}]")
        seen = Judge(render(f"{written}\n\n[a] [P1:n2] [x] [^1]\n\n# Next"))
        assert not seen.live, text
        assert seen.elements[-1] == "h1", text


def test_a_file_has_the_same_elements_whatever_the_graph_holds(render: Render) -> None:
    def elements(said: str) -> Counter[str]:
        seen = Judge(render(to_markdown(make_document(said))))
        assert not seen.live, said
        return Counter(element for element in seen.elements if element != "code")

    usual = elements("toys")
    for text in TEXTS[:100]:
        assert elements(f"x{text}") == usual, text


@pytest.mark.parametrize(
    "text",
    ["zipfile.ZipFile.__init__", "def f(*args, **kwargs)", "2**n + 3**m", "a*b*c", "~~old~~"],
)
def test_names_of_the_graph_look_as_they_are(text: str, render: Render) -> None:
    assert Judge(render(inert(text))).text == text
    seen = Judge(render(inert_blocks(f"It has {text}.", str)))
    assert seen.text == f"It has {text}."
    assert not {"strong", "em"} & set(seen.elements)
