// Finds the limits for which passes over a partition were packed.
// mode: schema
CREATE INDEX pgs_reply_pass_tokens IF NOT EXISTS FOR (n:PgsReply) ON (n.partition, n.pass_tokens)
