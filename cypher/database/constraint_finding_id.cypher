// One PgsFinding per id.
// mode: schema
CREATE CONSTRAINT pgs_finding_id IF NOT EXISTS FOR (n:PgsFinding) REQUIRE n.id IS UNIQUE
