"""Embeds the texts of a graph of documents."""
