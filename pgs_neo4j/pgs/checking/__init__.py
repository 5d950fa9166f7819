"""Checks of reports without a model: absences, flags, convergences, and links."""
