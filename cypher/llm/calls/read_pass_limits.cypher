// The limits that passes with stored replies were packed for, where a context was the limit.
// params: most: int
// returns: tokens: int
// mode: read
MATCH (r:PgsReply)
WHERE r.pass_tokens > 0
RETURN DISTINCT r.pass_tokens AS tokens
ORDER BY tokens DESC
LIMIT $most
