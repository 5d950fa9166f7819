"""Reads files: each module returns the normalized text of one kind of file."""
