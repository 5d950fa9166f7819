// Number and size in bytes of the stored replies; of one scope, unless `digest` is empty.
// params: digest: str
// returns: replies: int, size: int
// mode: read
MATCH (r:PgsReply)
WHERE $digest = '' OR r.scope = $digest
RETURN count(r) AS replies, coalesce(sum(r.size), 0) AS size
