"""Deletes documents, and proves what of their text is left."""
