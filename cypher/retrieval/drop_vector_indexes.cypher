// Drop a vector index that pgs created.
// params: name
// returns:
// mode: schema
DROP INDEX $name IF EXISTS
