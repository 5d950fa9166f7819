// Delete the least recently used replies until the rest fits into a number of bytes. Private
// replies of a run are deleted with it. Replies of unfinished runs of the last day stay, because
// they would have to be paid again; their size counts. Rejected replies, which have an `error`, are
// never needed again, and are deleted before others.
// params: size: int
// returns: deleted: int
// mode: write
MATCH (r:PgsReply) WHERE NOT r.private
WITH sum(r.size) AS total
WHERE total > $size
MATCH (r:PgsReply) WHERE NOT r.private
WITH r, r.error IS NULL AND EXISTS {
  MATCH (x:PgsRun {id: r.run})
  WHERE x.status <> 'complete' AND x.updated_at > datetime() - duration('P1D')
} AS needed
WITH r, needed ORDER BY needed DESC, r.error IS NULL DESC, r.used_at DESC, r.key
WITH collect(r) AS replies, collect(needed) AS needs, collect(r.size) AS sizes
WITH replies, needs, reduce(state = {sum: 0, fit: 0}, size IN sizes |
     {sum: state.sum + size,
      fit: state.fit + CASE WHEN state.sum + size <= $size THEN 1 ELSE 0 END}).fit AS fit
UNWIND range(fit, size(replies) - 1) AS place
WITH replies[place] AS old, needs[place] AS needed
WHERE NOT needed
DELETE old
RETURN count(*) AS deleted
