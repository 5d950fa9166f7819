// Those of the named procedures that are installed, in Cypher 5, and that the user may call.
// params: names: list[str]
// returns: names: list[str]
// mode: read
// language: 5
SHOW PROCEDURES EXECUTABLE YIELD name
WHERE name IN $names
RETURN collect(name) AS names
