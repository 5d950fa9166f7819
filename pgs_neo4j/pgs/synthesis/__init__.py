"""Combines reports into one answer, and condenses them first if necessary."""
