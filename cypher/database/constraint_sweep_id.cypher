// One PgsSweep per id.
// params:
// returns:
// mode: schema
// language: 5, 25
CREATE CONSTRAINT pgs_sweep_id IF NOT EXISTS FOR (n:PgsSweep) REQUIRE n.id IS UNIQUE
