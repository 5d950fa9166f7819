// Present names are found by their fourth block.
// mode: schema
CREATE INDEX pgs_name_block_4 IF NOT EXISTS
FOR (n:PgsName) ON (n.graph, n.block_4)
