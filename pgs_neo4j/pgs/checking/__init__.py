"""Checks reports without a model: absences, flags, convergences, and cited nodes."""
