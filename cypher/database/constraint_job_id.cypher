// One PgsJob per id.
// params:
// returns:
// mode: schema
// language: 5, 25
CREATE CONSTRAINT pgs_job_id IF NOT EXISTS FOR (n:PgsJob) REQUIRE n.id IS UNIQUE
