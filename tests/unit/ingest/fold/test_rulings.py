"""Rulings: which names people joined and parted, and what taking one back leaves."""

from __future__ import annotations
