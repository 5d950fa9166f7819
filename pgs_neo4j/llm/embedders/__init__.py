"""Embedders: feature hashing, OpenAI-compatible endpoints, sentence-transformers."""
