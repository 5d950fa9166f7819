"""Schedules the model calls of a run, and counts what they cost."""
