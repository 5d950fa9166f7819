// Names of the package's constraints.
// returns: name: str
// mode: read
SHOW CONSTRAINTS YIELD name, labelsOrTypes
WHERE name STARTS WITH 'pgs_' AND all(label IN labelsOrTypes WHERE label STARTS WITH 'Pgs')
RETURN name
