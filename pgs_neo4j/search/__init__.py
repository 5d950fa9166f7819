"""Finds nodes for a question without asking a language model."""
