// Drop an index that 'pgs index create' made.
// params: name: str
// mode: schema
DROP INDEX $name IF EXISTS
