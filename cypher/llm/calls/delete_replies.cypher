// Delete all replies except accepted ones of unfinished runs of the last day, which would have to be
// paid again.
// mode: batch
MATCH (r:PgsReply)
WHERE r.error IS NOT NULL OR NOT EXISTS {
  MATCH (x:PgsRun {id: r.run})
  WHERE x.status <> 'complete' AND x.updated_at > datetime() - duration('P1D')
}
CALL (r) { DELETE r } IN TRANSACTIONS OF 1000 ROWS
