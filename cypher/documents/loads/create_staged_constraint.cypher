// Staged nodes are found by load and id.
// params:
// returns:
// mode: schema
// language: 5, 25
CREATE CONSTRAINT pgs_staged_key IF NOT EXISTS
FOR (s:PgsStaged) REQUIRE (s.pgs_load, s.id) IS UNIQUE
