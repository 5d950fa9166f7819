// Create a full-text index on texts and titles. Only names may stand for labels and properties.
// It does nothing if the name or the schema is taken, so it is looked up afterwards.
// params: name: str, options: dict
// mode: schema
CREATE FULLTEXT INDEX $name IF NOT EXISTS
FOR (n:`{labels}`) ON EACH [n.`{properties}`] OPTIONS $options
