// How many replies are kept, and their size in bytes.
// params:
// returns: replies, size
// mode: read
MATCH (r:PgsReply)
RETURN count(r) AS replies, coalesce(sum(r.size), 0) AS size
