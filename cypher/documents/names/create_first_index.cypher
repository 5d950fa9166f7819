// Present names are found by their first block.
// mode: schema
CREATE INDEX pgs_name_block_1 IF NOT EXISTS
FOR (n:PgsName) ON (n.graph, n.block_1)
