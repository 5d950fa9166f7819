// One PgsPostings per uid.
// params:
// returns:
// mode: schema
// language: 5, 25
CREATE CONSTRAINT pgs_postings_uid IF NOT EXISTS FOR (n:PgsPostings) REQUIRE n.uid IS UNIQUE
