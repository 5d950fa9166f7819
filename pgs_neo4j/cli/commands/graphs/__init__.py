"""Commands that define, fill, divide, and inspect graphs."""
