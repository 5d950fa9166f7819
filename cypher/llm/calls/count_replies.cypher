// Number and size in bytes of the stored replies.
// returns: replies: int, size: int
// mode: read
MATCH (r:PgsReply)
RETURN count(r) AS replies, coalesce(sum(r.size), 0) AS size
