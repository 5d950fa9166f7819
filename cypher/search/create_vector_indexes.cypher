// Create a vector index on a label's embeddings. Only names may stand for label and property.
// It does nothing if the name or the schema is taken, so it is looked up afterwards.
// params: name: str, options: dict
// mode: schema
CREATE VECTOR INDEX $name IF NOT EXISTS
FOR (n:`{label}`) ON n.`{property}` OPTIONS $options
