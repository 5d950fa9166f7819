// One PgsPostings per uid.
// mode: schema
CREATE CONSTRAINT pgs_postings_uid IF NOT EXISTS FOR (n:PgsPostings) REQUIRE n.uid IS UNIQUE
