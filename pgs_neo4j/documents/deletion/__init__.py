"""Deletes documents, and searches the database for what is left of their text."""
