"""Statements of models: asked for, checked, linked to stored values, and read."""
