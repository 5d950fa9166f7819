"""Deletes documents, and searches the database for remaining traces of their text."""
