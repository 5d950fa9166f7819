// Create all names that the package stores. A new name costs a transaction of its own, which is
// not counted as one of the package.
// params: labels: list[str], types: list[str], properties: list[str]
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
