// Extractions that wait for their document are found by graph and key.
// mode: schema
CREATE CONSTRAINT pgs_extraction_uid IF NOT EXISTS
FOR (n:PgsExtraction) REQUIRE n.uid IS UNIQUE
