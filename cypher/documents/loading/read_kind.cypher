// Whether a graph's nodes were loaded from a file of nodes, or made of documents.
// params: graph: graph
// returns: loaded: bool, documents: bool
// mode: read
// sees: documents
RETURN EXISTS {
         MATCH (n:LoadedNode {graph: $graph})
         WHERE NOT n:Document AND NOT n:Chunk AND NOT n:`__Entity__` AND NOT n:`__Ruling__`
       } AS loaded,
       EXISTS { MATCH (n:LoadedNode {graph: $graph}) WHERE n:Document } AS documents
