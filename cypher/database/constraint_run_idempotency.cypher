// One PgsRun per idempotency key of a session; most runs have none.
// mode: schema
CREATE CONSTRAINT pgs_run_idempotency IF NOT EXISTS FOR (n:PgsRun) REQUIRE n.idempotency IS UNIQUE
