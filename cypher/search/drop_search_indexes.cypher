// Drop an index that 'pgs index create' made.
// params: name: str
// returns:
// mode: schema
// language: 5, 25
DROP INDEX $name IF EXISTS
