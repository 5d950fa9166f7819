"""The demo graph: this Python's standard library, parsed but never imported."""
