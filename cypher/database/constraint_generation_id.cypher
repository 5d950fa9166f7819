// One PgsGeneration per id.
// mode: schema
CREATE CONSTRAINT pgs_generation_id IF NOT EXISTS FOR (n:PgsGeneration) REQUIRE n.id IS UNIQUE
