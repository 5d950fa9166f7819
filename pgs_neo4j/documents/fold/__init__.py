"""Folds the contents of documents into one graph, a pure function of their chunks in any order."""
