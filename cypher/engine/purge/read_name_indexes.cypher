// Names of the package's indexes on its own labels, but for those of constraints.
// returns: name: str
// mode: read
SHOW RANGE INDEXES YIELD name, labelsOrTypes, owningConstraint
WHERE name STARTS WITH 'pgs_' AND owningConstraint IS NULL
  AND all(label IN labelsOrTypes WHERE label STARTS WITH 'Pgs')
RETURN name
