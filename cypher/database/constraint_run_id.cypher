// One PgsRun per id.
// params:
// returns:
// mode: schema
// language: 5, 25
CREATE CONSTRAINT pgs_run_id IF NOT EXISTS FOR (n:PgsRun) REQUIRE n.id IS UNIQUE
