// One PgsSpending per id.
// mode: schema
CREATE CONSTRAINT pgs_spending_id IF NOT EXISTS FOR (n:PgsSpending) REQUIRE n.id IS UNIQUE
