"""The parts of the retrieval benchmark that need no database."""

from __future__ import annotations

import numpy as np
import pytest

from tests.bench.judged import draw_links
from tests.bench.retrieval import ndcg, ratios


def test_links_are_between_like_rows_and_no_pair_comes_twice() -> None:
    angles = np.linspace(0, np.pi / 2, 30)
    rows = np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)
    links = draw_links(rows, 60)
    assert len(set(links)) == 60
    assert all(first < second for first, second in links)
    assert np.mean([second - first for first, second in links]) < 10  # by chance also 10.3
    assert draw_links(rows, 60) == links


def test_times_are_beside_those_of_others_where_these_are_there() -> None:
    ways = {"local": {"p50_s": 0.02}, "hybrid": {"p50_s": 0.03}}
    assert ratios(ways) == {}
    assert ratios({**ways, "graphrag linear": {"p50_s": 0.01}}) == {
        "p50 local ÷ graphrag linear": pytest.approx(2.0)
    }
    assert ratios({**ways, "lightrag mix": {"p50_s": 0.3}}) == {
        "p50 hybrid ÷ lightrag mix": pytest.approx(0.1)
    }


def test_the_gain_of_an_order_is_relative_to_the_best_one() -> None:
    grades = {"a": 2.0, "b": 1.0}
    assert ndcg(["a", "b", "c"], grades, 10) == pytest.approx(1.0)
    assert ndcg(["c", "b"], grades, 10) == pytest.approx((1 / np.log2(3)) / (2 + 1 / np.log2(3)))
    assert ndcg(["a"], {}, 10) == 0.0
