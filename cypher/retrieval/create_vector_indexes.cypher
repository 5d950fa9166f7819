// Create a cosine vector index on a label's embeddings. The procedure takes as values what
// the statement of the same purpose only takes as names.
// params: name: str, label: str, property: str, dimensions: int
// returns:
// mode: schema
// language: 5
CALL db.index.vector.createNodeIndex($name, $label, $property, $dimensions, 'cosine')
