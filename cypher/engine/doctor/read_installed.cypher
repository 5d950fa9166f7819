// Those of the named procedures that this release has in Cypher 5, callable by the user or not.
// params: names: list[str]
// returns: names: list[str]
// mode: read
// language: 5
SHOW PROCEDURES YIELD name
WHERE name IN $names
RETURN collect(name) AS names
