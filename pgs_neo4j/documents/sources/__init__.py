"""Finds the files to ingest, and loads their text."""
