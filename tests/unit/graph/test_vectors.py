"""Vectors at unit length."""

from __future__ import annotations

import numpy as np
import pytest

from pgs_neo4j.graph.vectors import unit


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_have_length_one_and_their_direction(dtype: type[np.floating]) -> None:
    rows = np.array([[3.0, 4.0], [0.0, -2.0]], dtype=dtype)
    scaled = unit(rows)
    assert scaled.dtype == dtype
    assert scaled.tolist() == pytest.approx(np.array([[0.6, 0.8], [0.0, -1.0]], dtype=dtype))
    assert rows.tolist() == [[3.0, 4.0], [0.0, -2.0]]


def test_what_has_no_direction_becomes_zeros() -> None:
    rows = np.array([[0.0, 0.0], [np.nan, 1.0], [np.inf, 1.0], [1e38, 1e38]], dtype=np.float32)
    with np.errstate(over="ignore"):
        assert unit(rows).tolist() == [[0.0, 0.0]] * 4
    assert unit(np.zeros(3)).tolist() == [0.0] * 3


@pytest.mark.parametrize("shape", [(0,), (0, 4), (3, 0)])
def test_empty_arrays_stay_empty(shape: tuple[int, ...]) -> None:
    assert unit(np.empty(shape)).shape == shape
