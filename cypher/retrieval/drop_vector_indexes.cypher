// Drop a vector index of ours.
// params: name
// returns:
// mode: schema
DROP INDEX $name IF EXISTS
