"""Commands, one module each. Each imports what it needs when it runs."""

from __future__ import annotations
