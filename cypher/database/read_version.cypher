// The schema version in place, no row when there is none.
// params:
// returns: version
// mode: read
MATCH (m:PgsMeta {id: 'pgs'})
RETURN m.schema_version AS version
