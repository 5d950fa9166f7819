// One PgsReply per key.
// mode: schema
CREATE CONSTRAINT pgs_reply_key IF NOT EXISTS FOR (n:PgsReply) REQUIRE n.key IS UNIQUE
