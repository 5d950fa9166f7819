// One PgsAbsence per id.
// params:
// returns:
// mode: schema
// language: 5, 25
CREATE CONSTRAINT pgs_absence_id IF NOT EXISTS FOR (n:PgsAbsence) REQUIRE n.id IS UNIQUE
