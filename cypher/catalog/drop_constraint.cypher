// Drop one constraint of the package.
// params: name: str
// returns:
// mode: schema
DROP CONSTRAINT $name IF EXISTS
