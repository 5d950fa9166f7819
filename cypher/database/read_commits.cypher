// Number of the package's transactions since the schema was created.
// params:
// returns: commits: int
// mode: read
// language: 5, 25
MATCH (m:PgsMeta {id: 'pgs'})
RETURN coalesce(m.commits, 0) AS commits
