// One PgsSegment per id.
// params:
// returns:
// mode: schema
// language: 5, 25
CREATE CONSTRAINT pgs_segment_id IF NOT EXISTS FOR (n:PgsSegment) REQUIRE n.id IS UNIQUE
