"""Access control: tokens, callers, and the checks on every request."""
