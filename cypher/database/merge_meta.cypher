// Record the version of the schema.
// params: version: int
// returns:
// mode: write
MERGE (m:PgsMeta {id: 'pgs'})
SET m.schema_version = $version
