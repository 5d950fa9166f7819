// Finds what was spent since a day.
// mode: schema
CREATE INDEX pgs_spending_day IF NOT EXISTS FOR (n:PgsSpending) ON (n.day)
