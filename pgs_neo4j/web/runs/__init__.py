"""Runs in progress: their queue, their events, and the streams of these."""
