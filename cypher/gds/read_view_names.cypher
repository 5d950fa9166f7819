// Labels and relationship types in use that are not ours, for a view that takes them all.
// params:
// returns: labels, types
// mode: read
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
