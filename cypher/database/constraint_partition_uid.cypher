// One PgsPartition per uid.
// params:
// returns:
// mode: schema
// language: 5, 25
CREATE CONSTRAINT pgs_partition_uid IF NOT EXISTS FOR (n:PgsPartition) REQUIRE n.uid IS UNIQUE
