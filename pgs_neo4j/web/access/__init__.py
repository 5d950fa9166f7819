"""Who may do what: tokens, callers, and the checks on every request."""
