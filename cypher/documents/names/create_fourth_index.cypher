// Present names are found by their fourth block.
// params:
// returns:
// mode: schema
// language: 5, 25
CREATE INDEX pgs_name_block_4 IF NOT EXISTS
FOR (n:PgsName) ON (n.graph, n.block_4)
