"""Describes the entities that many chunks describe."""
