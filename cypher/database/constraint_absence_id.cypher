// One PgsAbsence per id.
// mode: schema
CREATE CONSTRAINT pgs_absence_id IF NOT EXISTS FOR (n:PgsAbsence) REQUIRE n.id IS UNIQUE
