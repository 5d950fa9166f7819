// Names of all constraints with the package's prefix.
// returns: names: list[str]
// mode: read
SHOW CONSTRAINTS YIELD name
WHERE name STARTS WITH 'pgs_'
RETURN collect(name) AS names
