// One PgsSweep per id.
// mode: schema
CREATE CONSTRAINT pgs_sweep_id IF NOT EXISTS FOR (n:PgsSweep) REQUIRE n.id IS UNIQUE
