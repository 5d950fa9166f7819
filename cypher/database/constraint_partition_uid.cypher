// One PgsPartition per uid.
// params:
// returns:
// mode: schema
CREATE CONSTRAINT pgs_partition_uid IF NOT EXISTS FOR (n:PgsPartition) REQUIRE n.uid IS UNIQUE
