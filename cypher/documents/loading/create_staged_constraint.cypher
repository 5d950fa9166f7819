// Staged nodes are found by load and id.
// mode: schema
CREATE CONSTRAINT pgs_staged_key IF NOT EXISTS
FOR (s:PgsStaged) REQUIRE (s.pgs_load, s.id) IS UNIQUE
