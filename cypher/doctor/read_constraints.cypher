// Names of all constraints that begin like ours.
// params:
// returns: names
// mode: read
SHOW CONSTRAINTS YIELD name
WHERE name STARTS WITH 'pgs_'
RETURN collect(name) AS names
