// Documents that were read only in part are found without a scan, since the index has no others. It
// belongs to the ingested graph, so purge keeps it.
// mode: schema
CREATE INDEX ingested_partly_read IF NOT EXISTS
FOR (d:LoadedNode) ON (d.graph, d.partly_read)
