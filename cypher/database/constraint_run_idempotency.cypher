// One PgsRun per idempotency key of a session; most runs have none.
// params:
// returns:
// mode: schema
// language: 5, 25
CREATE CONSTRAINT pgs_run_idempotency IF NOT EXISTS FOR (n:PgsRun) REQUIRE n.idempotency IS UNIQUE
