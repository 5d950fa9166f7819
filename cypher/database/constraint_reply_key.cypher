// One PgsReply per key.
// params:
// returns:
// mode: schema
// language: 5, 25
CREATE CONSTRAINT pgs_reply_key IF NOT EXISTS FOR (n:PgsReply) REQUIRE n.key IS UNIQUE
