// One PgsSkeleton per key.
// params:
// returns:
// mode: schema
// language: 5, 25
CREATE CONSTRAINT pgs_skeleton_key IF NOT EXISTS FOR (n:PgsSkeleton) REQUIRE n.key IS UNIQUE
