// One PgsThesis per id.
// params:
// returns:
// mode: schema
// language: 5, 25
CREATE CONSTRAINT pgs_thesis_id IF NOT EXISTS FOR (n:PgsThesis) REQUIRE n.id IS UNIQUE
