// The version of the schema; no row if there is no schema.
// params:
// returns: version: int
// mode: read
// language: 5, 25
MATCH (m:PgsMeta {id: 'pgs'})
RETURN m.schema_version AS version
