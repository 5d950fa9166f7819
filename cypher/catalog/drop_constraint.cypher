// Drop one of our constraints.
// params: name
// returns:
// mode: schema
DROP CONSTRAINT $name IF EXISTS
