"""Paths: each finds nodes for a question in its own way, with one statement."""
