"""Which paths each mode walks, and how it adds their scores up."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, cast

import pytest

from pgs_neo4j.model import FoundFact, SearchMode
from pgs_neo4j.pgs.answering.modes import FAR_SHARE, MODES, MOST_FACTS, SearchTrace, SearchView
from pgs_neo4j.search.paths.walk import Hits


def fact(number: int, score: float) -> FoundFact:
    return FoundFact(
        id=f"r{number}", type="T", source="a", target="b", source_title="A", target_title="B",
        hops=1, score=score,
    )  # fmt: skip


class View:
    """Stands in for a view: answers each path with what a test wrote down."""

    names, themes = "names", "themes"
    keeps_passages = False

    def __init__(self, **answers: Mapping[str, float]) -> None:
        self.answers = answers
        self.walked: list[tuple[Any, ...]] = []
        self.question = "question"
        self.vector: object | None = object()
        self.weights = (1.0, 1.0, 1.0)
        self.things: dict[str, tuple[FoundFact, ...]] = {}

    def __getattr__(self, name: str) -> Callable[..., Awaitable[Hits]]:
        """Return a path, which notes what it was asked."""
        assert hasattr(SearchView, name), name
        path = {"by_vector": "vector", "by_text": "text", "by_title": "titles"}.get(name, name)

        async def walk(*asked: Any, **options: Any) -> Hits:
            self.walked.append((path, *asked, *options.items()))
            return Hits(path, self.answers.get(path, {}), things=self.things.get(path, ()))

        return walk


async def searched(mode: SearchMode, view: View) -> tuple[dict[str, float], SearchTrace]:
    trace = SearchTrace()
    return await MODES[mode](cast("SearchView", view), trace), trace


async def test_naive_and_hybrid_add_words_embeddings_and_neighbors() -> None:
    view = View(vector={"a": 0.9, "b": 0.1}, text={"c": 1.0})
    assert (await searched("naive", view))[0] == {"a": 1.0, "b": 0.5}
    view.vector = None
    view.answers = {"text": {"c": 1.0}}
    assert (await searched("naive", view))[0] == {"c": 1.0}
    view = View(text={"a": 3.0, "b": 1.0}, vector={"b": 0.9, "c": 0.3}, hops={"c": 8.0})
    scores, _ = await searched("hybrid", view)
    assert scores == pytest.approx({"a": 0.7, "b": 0.65, "c": 0.55})
    assert ("units", "question") in view.walked
    assert ("findings", "question") in view.walked


async def test_local_asks_for_names_and_global_for_themes() -> None:
    view = View(text={"a": 4.0, "b": 2.0}, titles={"c": 1.0}, hops={"d": 2.0, "a": 1.0})
    scores, trace = await searched("local", view)
    assert view.walked[:2] == [("text", "names"), ("titles",)]
    assert scores == pytest.approx({"a": 0.9, "d": 0.4, "b": 0.35, "c": 0.3})
    assert [report.name for report in trace.reports] == ["text", "titles", "hops", "facts"]
    view = View(text={"a": 4.0}, facts={"a": 0.4, "b": 0.2})
    scores, _ = await searched("global", view)
    assert view.walked == [
        ("units", "themes"),
        ("findings", "themes"),
        ("text", "themes"),
        ("facts", {"a": 4.0}, ("embedded", False)),
    ]
    assert scores == pytest.approx({"a": 1.0, "b": 0.15})


@pytest.mark.parametrize("mode", ["local", "hybrid", "multipath"])
async def test_passages_gain_where_a_graph_keeps_them_apart(mode: SearchMode) -> None:
    view = View(text={"a": 3.0, "b": 1.0}, passages={"p": 0.6, "q": 0.3})
    assert "p" not in (await searched(mode, view))[0]
    view.keeps_passages = True
    scores, trace = await searched(mode, view)
    assert (scores["p"], scores["q"]) == pytest.approx((0.4, 0.2))
    assert "passages" in {report.name for report in trace.reports}


async def test_mix_weighs_its_parts_and_keeps_each_relationship_once() -> None:
    view = View(text={"a": 1.0}, vector={"b": 1.0})
    view.things["facts"] = tuple(fact(number, number / 100) for number in range(MOST_FACTS + 5))
    scores, trace = await searched("mix", view)
    assert scores == pytest.approx({"a": 2 / 3, "b": 1 / 3})
    assert [one.id for one in trace.facts] == [f"r{n}" for n in range(MOST_FACTS + 4, 4, -1)]
    assert set(trace.scores) == {
        *("local text", "local titles", "local hops", "local facts"),
        *("global units", "global findings", "global text", "global facts"),
        "naive vector",
    }
    view.weights = (0.0, 0.0, 2.0)
    assert (await searched("mix", view))[0] == pytest.approx({"b": 1.0, "a": 0.0})


async def test_multipath_and_triplets_walk_two_hops_or_fall_back_to_the_entries() -> None:
    view = View(text={"a": 1.0}, facts={"x": 0.6, "y": 0.3})
    assert (await searched("triplets", view))[0] == {"x": 0.6, "y": 0.3}
    assert view.walked[-1] == ("facts", {"a": 1.0}, 2)
    scores, _ = await searched("multipath", view)
    assert scores == pytest.approx({"a": 1.0, "x": 0.4, "y": 0.2})
    assert (await searched("triplets", View(text={"a": 1.0})))[0] == {"a": 1.0}


async def test_structural_takes_far_nodes_by_their_cosine() -> None:
    view = View(text={"a": 1.0}, through={"far": 0.8, "a": 0.9})
    scores, _ = await searched("structural", view)
    assert scores == pytest.approx({"a": 1.0, "far": FAR_SHARE * 0.8})


@pytest.mark.parametrize(
    ("question", "title", "mode"),
    [
        ("What are the main themes?", 0.9, "global"),
        ("What are the main themes?", 1.0, "hybrid"),
        ("Who is Ada?", 1.0, "local"),
        ("Who is Ada?", 0.9, "naive"),
    ],
)
async def test_auto_walks_as_the_mode_it_chooses(
    question: str, title: float, mode: SearchMode
) -> None:
    view, chosen = View(titles={"a": title}), View(titles={"a": title})
    view.question = chosen.question = question
    _, trace = await searched("auto", view)
    await searched(mode, chosen)
    assert trace.reason.startswith(f"{mode}: the question ")
    assert view.walked == [("titles",), *chosen.walked]
