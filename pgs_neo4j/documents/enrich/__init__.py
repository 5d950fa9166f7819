"""Improves a graph once its documents are published: judged names, descriptions, vectors."""
