// Finds the limits that passes were packed for.
// mode: schema
CREATE INDEX pgs_reply_pass_tokens IF NOT EXISTS FOR (n:PgsReply) ON (n.pass_tokens)
