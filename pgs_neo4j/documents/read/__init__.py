"""Readers: each makes the normalized text of one kind of file."""
