// Drop one index of the package.
// params: name: str
// mode: schema
DROP INDEX $name IF EXISTS
