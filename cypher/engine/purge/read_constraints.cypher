// Names of the package's constraints.
// params:
// returns: name: str
// mode: read
// language: 5, 25
SHOW CONSTRAINTS YIELD name, labelsOrTypes
WHERE name STARTS WITH 'pgs_' AND all(label IN labelsOrTypes WHERE label STARTS WITH 'Pgs')
RETURN name
