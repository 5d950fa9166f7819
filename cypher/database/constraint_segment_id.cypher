// One PgsSegment per id.
// params:
// returns:
// mode: schema
CREATE CONSTRAINT pgs_segment_id IF NOT EXISTS FOR (n:PgsSegment) REQUIRE n.id IS UNIQUE
