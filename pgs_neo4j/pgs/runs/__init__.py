"""Runs, sessions, and answers in the database."""
