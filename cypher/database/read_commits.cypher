// Number of the package's transactions since the schema was created. No row if there is no schema.
// returns: commits: int
// mode: read
MATCH (m:PgsMeta {id: 'pgs'})
OPTIONAL MATCH (g:PgsMeta {id: 'graph'})
RETURN coalesce(m.commits, 0) + coalesce(g.commits, 0) AS commits
