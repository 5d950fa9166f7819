"""Calls models behind Anthropic's Messages API."""
