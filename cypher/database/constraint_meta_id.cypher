// One PgsMeta per id.
// mode: schema
CREATE CONSTRAINT pgs_meta_id IF NOT EXISTS FOR (n:PgsMeta) REQUIRE n.id IS UNIQUE
