// Drop a vector index that pgs created.
// params: name: str
// returns:
// mode: schema
// language: 5, 25
DROP INDEX $name IF EXISTS
