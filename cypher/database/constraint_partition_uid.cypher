// One PgsPartition per uid.
// mode: schema
CREATE CONSTRAINT pgs_partition_uid IF NOT EXISTS FOR (n:PgsPartition) REQUIRE n.uid IS UNIQUE
