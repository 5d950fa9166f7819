// Entities whose descriptions wait are found without a scan, since the index has no others. It
// belongs to the ingested graph, so purge keeps it.
// mode: schema
CREATE INDEX ingested_undescribed IF NOT EXISTS
FOR (e:`__Entity__`) ON (e.graph, e.undescribed)
