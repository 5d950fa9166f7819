// One PgsSegment per id.
// mode: schema
CREATE CONSTRAINT pgs_segment_id IF NOT EXISTS FOR (n:PgsSegment) REQUIRE n.id IS UNIQUE
