// Entities are found by their normalized name. It belongs to the ingested graph, so purge keeps it.
// mode: schema
CREATE INDEX ingested_entity_key IF NOT EXISTS
FOR (e:`__Entity__`) ON (e.graph, e.key)
