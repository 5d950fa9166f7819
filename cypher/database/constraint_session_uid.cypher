// One PgsSession per uid.
// params:
// returns:
// mode: schema
// language: 5, 25
CREATE CONSTRAINT pgs_session_uid IF NOT EXISTS FOR (n:PgsSession) REQUIRE n.uid IS UNIQUE
