"""Arithmetic of retrieval: scores of paths, triplets, feedback, and pairs."""
