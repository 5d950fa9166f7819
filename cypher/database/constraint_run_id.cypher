// One PgsRun per id.
// params:
// returns:
// mode: schema
CREATE CONSTRAINT pgs_run_id IF NOT EXISTS FOR (n:PgsRun) REQUIRE n.id IS UNIQUE
