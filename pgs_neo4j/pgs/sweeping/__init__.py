"""Reads partitions at full text: packs prompts, asks the model, and parses and checks reports."""
