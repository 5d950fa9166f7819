// One PgsConnection per id.
// mode: schema
CREATE CONSTRAINT pgs_connection_id IF NOT EXISTS FOR (n:PgsConnection) REQUIRE n.id IS UNIQUE
