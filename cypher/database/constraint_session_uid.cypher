// One PgsSession per uid.
// mode: schema
CREATE CONSTRAINT pgs_session_uid IF NOT EXISTS FOR (n:PgsSession) REQUIRE n.uid IS UNIQUE
