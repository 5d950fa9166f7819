"""Calls models of Ollama through its native interface, which sets the context of each call."""
