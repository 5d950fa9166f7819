// Record the version of the schema.
// params: version
// returns:
// mode: write
MERGE (m:PgsMeta {id: 'pgs'})
SET m.schema_version = $version
