"""The method: partition, enrich, route, read, sweep, synthesize, and the sessions that count."""
