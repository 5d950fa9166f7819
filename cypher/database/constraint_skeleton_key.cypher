// One PgsSkeleton per key.
// mode: schema
CREATE CONSTRAINT pgs_skeleton_key IF NOT EXISTS FOR (n:PgsSkeleton) REQUIRE n.key IS UNIQUE
