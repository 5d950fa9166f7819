"""Figures as labels with texts, the same in the terminal and in notebooks. Pure."""
