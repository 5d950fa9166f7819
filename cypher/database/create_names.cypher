// Make the names known that we store later. A new name costs a transaction of its own, which
// nobody counts as ours.
// params: labels, types, properties
// returns:
// mode: write
CALL () {
  UNWIND $labels AS name CALL db.createLabel(name)
}
CALL () {
  UNWIND $types AS name CALL db.createRelationshipType(name)
}
CALL () {
  UNWIND $properties AS name CALL db.createProperty(name)
}
