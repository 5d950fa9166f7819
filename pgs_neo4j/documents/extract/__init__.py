"""Extracts what chunks say: by a model or by statistics, and each text once."""
