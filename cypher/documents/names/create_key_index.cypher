// Present names are found by their key.
// mode: schema
CREATE INDEX pgs_name_key IF NOT EXISTS
FOR (n:PgsName) ON (n.graph, n.key)
