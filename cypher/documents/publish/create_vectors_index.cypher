// Nodes that have vectors are found without a scan, by the model that made them. The index belongs to
// the ingested graph, so purge keeps it.
// mode: schema
CREATE INDEX ingested_embedded IF NOT EXISTS
FOR (n:LoadedNode) ON (n.graph, n.embedded_by)
