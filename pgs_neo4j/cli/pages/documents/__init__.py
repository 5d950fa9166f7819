"""What an ingestion did, as lines and as JSON."""
