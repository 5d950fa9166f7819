// Record which schema is in place.
// params: version
// returns:
// mode: write
MERGE (m:PgsMeta {id: 'pgs'})
SET m.schema_version = $version
