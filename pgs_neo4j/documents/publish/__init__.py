"""Publishes documents to their graph, in groups or part by part."""
