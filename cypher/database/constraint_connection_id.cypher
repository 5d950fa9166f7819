// One PgsConnection per id.
// params:
// returns:
// mode: schema
// language: 5, 25
CREATE CONSTRAINT pgs_connection_id IF NOT EXISTS FOR (n:PgsConnection) REQUIRE n.id IS UNIQUE
