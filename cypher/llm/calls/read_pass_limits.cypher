// The limits for which passes over a partition were packed, where a context was the limit. Only
// replies of one scope count, or those without a scope if `digest` is empty.
// params: partition: int, most: int, digest: str
// returns: tokens: int, replies: int
// mode: read
MATCH (r:PgsReply)
WHERE r.partition = $partition AND r.pass_tokens > 0 AND coalesce(r.scope, '') = $digest
RETURN r.pass_tokens AS tokens, count(*) AS replies
ORDER BY replies DESC, tokens DESC
LIMIT $most
