// One PgsLease per graph's name.
// params:
// returns:
// mode: schema
// language: 5, 25
CREATE CONSTRAINT pgs_lease_name IF NOT EXISTS FOR (n:PgsLease) REQUIRE n.name IS UNIQUE
