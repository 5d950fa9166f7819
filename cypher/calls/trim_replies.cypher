// Delete the replies that were used longest ago, until all that stay fit into a number of bytes.
// What a run keeps for itself goes with it, and those of runs of the last day that may go on stay,
// which would pay again; these count.
// params: size
// returns: deleted
// mode: write
MATCH (r:PgsReply) WHERE NOT r.private
WITH sum(r.size) AS total
WHERE total > $size
MATCH (r:PgsReply) WHERE NOT r.private
WITH r, EXISTS {
  MATCH (x:PgsRun {id: r.run})
  WHERE x.status <> 'complete' AND x.updated_at > datetime() - duration('P1D')
} AS needed
WITH r, needed ORDER BY needed DESC, r.used_at DESC, r.key
WITH collect(r) AS replies, collect(needed) AS needs, collect(r.size) AS sizes
WITH replies, needs, reduce(state = {sum: 0, fit: 0}, size IN sizes |
     {sum: state.sum + size,
      fit: state.fit + CASE WHEN state.sum + size <= $size THEN 1 ELSE 0 END}).fit AS fit
UNWIND range(fit, size(replies) - 1) AS place
WITH replies[place] AS old, needs[place] AS needed
WHERE NOT needed
DELETE old
RETURN count(*) AS deleted
