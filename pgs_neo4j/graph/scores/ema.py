"""Weights that follow outcomes: an exponential moving average."""

from __future__ import annotations

ALPHA = 0.1
"""Share of each new outcome in the weight."""
START = 0.5
"""Weight before the first outcome."""
