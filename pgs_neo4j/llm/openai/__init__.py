"""Calls models behind any OpenAI-compatible endpoint."""
