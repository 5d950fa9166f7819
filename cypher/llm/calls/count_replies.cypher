// Number and size in bytes of the stored replies.
// params:
// returns: replies: int, size: int
// mode: read
// language: 5, 25
MATCH (r:PgsReply)
RETURN count(r) AS replies, coalesce(sum(r.size), 0) AS size
