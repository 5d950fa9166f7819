// One PgsMeta per id.
// params:
// returns:
// mode: schema
// language: 5, 25
CREATE CONSTRAINT pgs_meta_id IF NOT EXISTS FOR (n:PgsMeta) REQUIRE n.id IS UNIQUE
