// One PgsFlag per id.
// params:
// returns:
// mode: schema
// language: 5, 25
CREATE CONSTRAINT pgs_flag_id IF NOT EXISTS FOR (n:PgsFlag) REQUIRE n.id IS UNIQUE
