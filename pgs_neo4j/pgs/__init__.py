"""The method, from the order of a run to its recorded answer."""
