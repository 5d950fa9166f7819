// Embedding and text of some nodes, as parallel lists. The vector is empty if it is missing or
// has another length.
// params: ids: list[int], text: list[str], embedding: str, dimensions: int
// returns: ids: list[int], vectors: list[list[float]], texts: list[list[any]]
// mode: read
// language: 5, 25
MATCH (n) WHERE id(n) IN $ids
WITH n,
     CASE WHEN n[$embedding] IS :: LIST<FLOAT NOT NULL> NOT NULL | LIST<INTEGER NOT NULL> NOT NULL
               AND size(n[$embedding]) = $dimensions
          THEN n[$embedding] ELSE [] END AS vector
RETURN collect(id(n)) AS ids, collect(vector) AS vectors,
       collect(CASE WHEN size(vector) > 0 THEN [] ELSE [property IN $text | n[property]] END) AS texts
