// Count the change of the schema that this package committed just before, as one of its transactions.
// No transaction can both change a schema and write data.
// returns: commits: int
// mode: write
MATCH (m:PgsMeta {id: 'pgs'})
SET m.commits = coalesce(m.commits, 0) + 1
RETURN m.commits AS commits
