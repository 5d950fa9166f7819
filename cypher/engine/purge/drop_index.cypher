// Drop one index of the package.
// params: name: str
// returns:
// mode: schema
// language: 5, 25
DROP INDEX $name IF EXISTS
