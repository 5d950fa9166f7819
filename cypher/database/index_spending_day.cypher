// Finds what was spent since a day.
// params:
// returns:
// mode: schema
// language: 5, 25
CREATE INDEX pgs_spending_day IF NOT EXISTS FOR (n:PgsSpending) ON (n.day)
