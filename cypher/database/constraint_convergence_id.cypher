// One PgsConvergence per id.
// params:
// returns:
// mode: schema
// language: 5, 25
CREATE CONSTRAINT pgs_convergence_id IF NOT EXISTS FOR (n:PgsConvergence) REQUIRE n.id IS UNIQUE
