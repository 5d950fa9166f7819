// Labels and relationship types of the user, for users without access to the count store.
// returns: labels: list[str], types: list[str]
// mode: read
// sees: everything
CALL () {
  CALL db.labels() YIELD label
  WHERE NOT label STARTS WITH 'Pgs' RETURN collect(label) AS labels
}
CALL () {
  CALL db.relationshipTypes() YIELD relationshipType
  WHERE NOT relationshipType STARTS WITH 'PGS_' RETURN collect(relationshipType) AS types
}
RETURN labels, types
