"""Looks up what a model claims in its sources: numbers, dates, names, quotations, and negations."""
