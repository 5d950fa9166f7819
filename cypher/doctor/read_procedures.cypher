// Which of some procedures are installed and may be called by the user.
// params: names
// returns: names
// mode: read
SHOW PROCEDURES EXECUTABLE YIELD name
WHERE name IN $names
RETURN collect(name) AS names
