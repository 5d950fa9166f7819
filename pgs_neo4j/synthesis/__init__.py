"""Combines reports into one answer, condensing them first where they exceed a prompt."""
