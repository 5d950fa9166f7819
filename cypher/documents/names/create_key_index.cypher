// Present names are found by their key.
// params:
// returns:
// mode: schema
// language: 5, 25
CREATE INDEX pgs_name_key IF NOT EXISTS
FOR (n:PgsName) ON (n.graph, n.key)
