// One PgsLease per graph's name.
// params:
// returns:
// mode: schema
CREATE CONSTRAINT pgs_lease_name IF NOT EXISTS FOR (n:PgsLease) REQUIRE n.name IS UNIQUE
