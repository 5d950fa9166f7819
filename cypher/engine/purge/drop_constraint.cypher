// Drop one constraint of the package.
// params: name: str
// mode: schema
DROP CONSTRAINT $name IF EXISTS
