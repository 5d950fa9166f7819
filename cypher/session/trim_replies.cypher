// Delete the replies that were used longest ago, until the others fit into a number of bytes.
// What a run keeps for itself goes with it.
// params: size
// returns: deleted
// mode: write
MATCH (r:PgsReply) WHERE NOT r.private
WITH sum(r.size) AS total
WHERE total > $size
MATCH (r:PgsReply) WHERE NOT r.private
WITH r ORDER BY r.used_at DESC, r.key
WITH collect(r) AS replies, collect(r.size) AS sizes
WITH replies, reduce(state = {sum: 0, fit: 0}, size IN sizes |
     {sum: state.sum + size,
      fit: state.fit + CASE WHEN state.sum + size <= $size THEN 1 ELSE 0 END}).fit AS fit
UNWIND replies[fit..] AS old
DELETE old
RETURN count(*) AS deleted
