// Drop one constraint of the package.
// params: name
// returns:
// mode: schema
DROP CONSTRAINT $name IF EXISTS
