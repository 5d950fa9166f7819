"""Runs in progress: their queue, their events, and streams of events."""
