"""Anthropic's Messages API as a language model."""
