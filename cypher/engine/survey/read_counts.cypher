// Nodes per label and relationships per type, from the count store.
// returns: nodes: int, relationships: int, labels: list[list[any]], types: list[list[any]]
// mode: read
// sees: everything
CALL db.stats.retrieve('GRAPH COUNTS') YIELD data
RETURN head([row IN data.nodes WHERE row.label IS NULL | row.count]) AS nodes,
       head([row IN data.relationships
             WHERE row.relationshipType IS NULL AND row.startLabel IS NULL AND row.endLabel IS NULL
             | row.count]) AS relationships,
       [row IN data.nodes WHERE row.label IS NOT NULL | [row.label, row.count]] AS labels,
       [row IN data.relationships
        WHERE row.relationshipType IS NOT NULL AND row.startLabel IS NULL AND row.endLabel IS NULL
        | [row.relationshipType, row.count]] AS types
