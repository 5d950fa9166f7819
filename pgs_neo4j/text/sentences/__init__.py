"""Sentences of any text, with their places: prose, headings, lists, tables, and code."""

from pgs_neo4j.text.sentences.split import split_sentences

__all__ = ["split_sentences"]
