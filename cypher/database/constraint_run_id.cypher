// One PgsRun per id.
// mode: schema
CREATE CONSTRAINT pgs_run_id IF NOT EXISTS FOR (n:PgsRun) REQUIRE n.id IS UNIQUE
