// One PgsPurchase per key.
// params:
// returns:
// mode: schema
// language: 5, 25
CREATE CONSTRAINT pgs_purchase_key IF NOT EXISTS FOR (n:PgsPurchase) REQUIRE n.key IS UNIQUE
