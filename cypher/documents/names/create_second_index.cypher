// Present names are found by their second block.
// params:
// returns:
// mode: schema
// language: 5, 25
CREATE INDEX pgs_name_block_2 IF NOT EXISTS
FOR (n:PgsName) ON (n.graph, n.block_2)
