"""Rerankers: each orders the best nodes of a search by a measure of its own."""
