// One PgsJob per id.
// params:
// returns:
// mode: schema
CREATE CONSTRAINT pgs_job_id IF NOT EXISTS FOR (n:PgsJob) REQUIRE n.id IS UNIQUE
