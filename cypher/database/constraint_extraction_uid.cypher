// Extractions that wait for their document are found by graph and key.
// params:
// returns:
// mode: schema
// language: 5, 25
CREATE CONSTRAINT pgs_extraction_uid IF NOT EXISTS
FOR (n:PgsExtraction) REQUIRE n.uid IS UNIQUE
