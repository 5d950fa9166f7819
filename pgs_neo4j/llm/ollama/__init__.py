"""Ollama by its native interface, which sets the context of each call."""
