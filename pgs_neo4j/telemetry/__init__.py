"""Spans of OpenTelemetry, for programs that have set it up. Without it, nothing happens."""
