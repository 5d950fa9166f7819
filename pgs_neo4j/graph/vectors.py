"""Vectors at unit length."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Float = TypeVar("Float", bound=np.floating)


def unit(vectors: NDArray[Float]) -> NDArray[Float]:
    """Return one vector ``(d,)`` or rows ``(n, d)``, scaled to length 1.

    The dtype stays. A vector becomes zeros if it is zero, if its length overflows, or if a
    component is not finite.
    """
    axis = None if vectors.ndim == 1 else 1
    length = np.asarray(np.linalg.norm(vectors, axis=axis, keepdims=True))
    scalable = np.isfinite(length) & (length > 0)
    scaled: NDArray[Float] = np.zeros_like(vectors)
    np.divide(vectors, length, out=scaled, where=scalable)
    return scaled
