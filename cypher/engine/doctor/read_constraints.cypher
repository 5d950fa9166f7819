// Names of all constraints with the package's prefix.
// params:
// returns: names: list[str]
// mode: read
// language: 5, 25
SHOW CONSTRAINTS YIELD name
WHERE name STARTS WITH 'pgs_'
RETURN collect(name) AS names
