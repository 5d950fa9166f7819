// The limits for which passes over a partition were packed, where a context was the limit.
// params: partition: int, most: int
// returns: tokens: int, replies: int
// mode: read
MATCH (r:PgsReply)
WHERE r.partition = $partition AND r.pass_tokens > 0
RETURN r.pass_tokens AS tokens, count(*) AS replies
ORDER BY replies DESC, tokens DESC
LIMIT $most
