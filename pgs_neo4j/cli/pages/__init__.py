"""Text, tables, and JSON that commands print."""

from __future__ import annotations
