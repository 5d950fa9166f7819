"""The demo graph: the standard library of this Python, read and never imported."""
