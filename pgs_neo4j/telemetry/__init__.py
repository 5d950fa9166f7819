"""Log records without secrets, and spans for programs that have set up OpenTelemetry."""
