// One PgsConvergence per id.
// mode: schema
CREATE CONSTRAINT pgs_convergence_id IF NOT EXISTS FOR (n:PgsConvergence) REQUIRE n.id IS UNIQUE
