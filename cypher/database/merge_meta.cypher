// Record the version of the schema. What was written before a purge knows another token.
// params: version: int
// mode: write
MERGE (m:PgsMeta {id: 'pgs'})
ON CREATE SET m.token = randomUUID()
SET m.schema_version = $version
