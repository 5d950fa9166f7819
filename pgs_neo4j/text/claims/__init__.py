"""Claims of models: their numbers, dates, names, quotations, and negations, looked up in texts."""
