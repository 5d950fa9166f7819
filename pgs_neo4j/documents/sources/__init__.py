"""Finds what is to be ingested, and loads its text."""
