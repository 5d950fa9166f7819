// Those of the named procedures that are installed and that the user may call.
// params: names
// returns: names
// mode: read
SHOW PROCEDURES EXECUTABLE YIELD name
WHERE name IN $names
RETURN collect(name) AS names
