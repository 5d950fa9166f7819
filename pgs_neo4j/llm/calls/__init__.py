"""What a model call costs, and when it may be made."""
