// One PgsFinding per id.
// params:
// returns:
// mode: schema
// language: 5, 25
CREATE CONSTRAINT pgs_finding_id IF NOT EXISTS FOR (n:PgsFinding) REQUIRE n.id IS UNIQUE
