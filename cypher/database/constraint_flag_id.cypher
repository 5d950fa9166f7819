// One PgsFlag per id.
// mode: schema
CREATE CONSTRAINT pgs_flag_id IF NOT EXISTS FOR (n:PgsFlag) REQUIRE n.id IS UNIQUE
