// One PgsView per id.
// mode: schema
CREATE CONSTRAINT pgs_view_id IF NOT EXISTS FOR (n:PgsView) REQUIRE n.id IS UNIQUE
