// One PgsSpending per id.
// params:
// returns:
// mode: schema
// language: 5, 25
CREATE CONSTRAINT pgs_spending_id IF NOT EXISTS FOR (n:PgsSpending) REQUIRE n.id IS UNIQUE
