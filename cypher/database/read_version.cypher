// The version of the schema; no row if there is no schema.
// returns: version: int
// mode: read
MATCH (m:PgsMeta {id: 'pgs'})
RETURN m.schema_version AS version
