// Drop a vector index that pgs created.
// params: name: str
// returns:
// mode: schema
DROP INDEX $name IF EXISTS
