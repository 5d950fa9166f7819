// One PgsThesis per id.
// mode: schema
CREATE CONSTRAINT pgs_thesis_id IF NOT EXISTS FOR (n:PgsThesis) REQUIRE n.id IS UNIQUE
