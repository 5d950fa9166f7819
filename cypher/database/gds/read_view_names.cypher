// Labels and relationship types in use that this package did not create, for a view without
// any of its own.
// returns: labels: list[str], types: list[str]
// mode: read
// sees: everything
CALL () {
  CALL db.labels() YIELD label
  WITH label WHERE NOT label STARTS WITH 'Pgs'
  RETURN collect(label) AS labels
}
CALL () {
  CALL db.relationshipTypes() YIELD relationshipType
  WITH relationshipType WHERE NOT relationshipType STARTS WITH 'PGS_'
  RETURN collect(relationshipType) AS types
}
RETURN labels, types
