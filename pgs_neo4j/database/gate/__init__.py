"""The door for Cypher that a user or a model wrote: it lets one plain read pass, and bounds it."""
