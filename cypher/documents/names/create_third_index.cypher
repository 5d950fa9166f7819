// Present names are found by their third block.
// mode: schema
CREATE INDEX pgs_name_block_3 IF NOT EXISTS
FOR (n:PgsName) ON (n.graph, n.block_3)
