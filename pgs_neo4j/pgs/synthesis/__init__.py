"""Combines reports into one answer, condensing them where needed."""
