// One PgsThesis per id.
// params:
// returns:
// mode: schema
CREATE CONSTRAINT pgs_thesis_id IF NOT EXISTS FOR (n:PgsThesis) REQUIRE n.id IS UNIQUE
