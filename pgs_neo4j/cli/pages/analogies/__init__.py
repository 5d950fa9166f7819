"""Analogies as lines and as JSON: those that were made, and the plan of others."""
