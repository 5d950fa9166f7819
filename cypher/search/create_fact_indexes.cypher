// Create a vector index on the relationships of a type. Only names may stand for type and property.
// It does nothing if the name or the schema is taken, so it is looked up afterwards.
// params: name: str, options: dict
// mode: schema
CREATE VECTOR INDEX $name IF NOT EXISTS
FOR ()-[r:`{type}`]-() ON (r.`{property}`) OPTIONS $options
