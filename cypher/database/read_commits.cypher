// How many transactions of ours were counted since the schema was made.
// params:
// returns: commits
// mode: read
MATCH (m:PgsMeta {id: 'pgs'})
RETURN coalesce(m.commits, 0) AS commits
