// One PgsPurchase per key.
// mode: schema
CREATE CONSTRAINT pgs_purchase_key IF NOT EXISTS FOR (n:PgsPurchase) REQUIRE n.key IS UNIQUE
