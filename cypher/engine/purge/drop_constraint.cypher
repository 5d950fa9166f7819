// Drop one constraint of the package.
// params: name: str
// returns:
// mode: schema
// language: 5, 25
DROP CONSTRAINT $name IF EXISTS
