// One PgsGeneration per id.
// params:
// returns:
// mode: schema
// language: 5, 25
CREATE CONSTRAINT pgs_generation_id IF NOT EXISTS FOR (n:PgsGeneration) REQUIRE n.id IS UNIQUE
