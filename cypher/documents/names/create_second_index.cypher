// Present names are found by their second block.
// mode: schema
CREATE INDEX pgs_name_block_2 IF NOT EXISTS
FOR (n:PgsName) ON (n.graph, n.block_2)
