// Names of all constraints with the package's prefix.
// params:
// returns: names
// mode: read
SHOW CONSTRAINTS YIELD name
WHERE name STARTS WITH 'pgs_'
RETURN collect(name) AS names
