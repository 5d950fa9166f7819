// Present names are found by their fifth block.
// mode: schema
CREATE INDEX pgs_name_block_5 IF NOT EXISTS
FOR (n:PgsName) ON (n.graph, n.block_5)
