// Record the version of the schema.
// params: version: int
// returns:
// mode: write
// language: 5, 25
MERGE (m:PgsMeta {id: 'pgs'})
SET m.schema_version = $version
