// Nodes per label and relationships per type, from the count store, without those of this package.
// returns: labels: list[list[any]], types: list[list[any]]
// mode: read
// sees: everything
CALL db.stats.retrieve('GRAPH COUNTS') YIELD data
RETURN [row IN data.nodes
        WHERE row.label IS NOT NULL AND NOT row.label STARTS WITH 'Pgs'
        | [row.label, row.count]] AS labels,
       [row IN data.relationships
        WHERE row.relationshipType IS NOT NULL AND row.startLabel IS NULL AND row.endLabel IS NULL
          AND NOT row.relationshipType STARTS WITH 'PGS_'
        | [row.relationshipType, row.count]] AS types
