// One PgsLease per graph's name.
// mode: schema
CREATE CONSTRAINT pgs_lease_name IF NOT EXISTS FOR (n:PgsLease) REQUIRE n.name IS UNIQUE
