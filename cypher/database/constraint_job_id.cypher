// One PgsJob per id.
// mode: schema
CREATE CONSTRAINT pgs_job_id IF NOT EXISTS FOR (n:PgsJob) REQUIRE n.id IS UNIQUE
