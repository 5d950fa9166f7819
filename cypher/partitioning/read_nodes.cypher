// What partitioning needs of some nodes of a view, as parallel lists: text, weight, length of
// the vector, and a few of its components. A missing weight or component is NaN.
// params: ids: list[int], text: list[str], weight: str, embedding: str
// returns: ids: list[int], texts: list[list[any]], weights: list[float], dimensions: list[int],
//   probes: list[list[float]]
// mode: read
// language: 5, 25
MATCH (n) WHERE id(n) IN $ids
WITH n, CASE WHEN n[$embedding] IS :: LIST<FLOAT NOT NULL> NOT NULL | LIST<INTEGER NOT NULL> NOT NULL
             THEN n[$embedding] ELSE [] END AS vector
WITH n, size(vector) AS dimensions,
     CASE WHEN n[$weight] IS :: INTEGER NOT NULL | FLOAT NOT NULL
          THEN toFloat(n[$weight]) ELSE 0.0 / 0.0 END AS weight,
     CASE WHEN size(vector) = 0 THEN []
          ELSE [x IN [vector[0], vector[size(vector) / 3], vector[size(vector) / 2], vector[-1]]
                | toFloat(x)] END AS probe
RETURN collect(id(n)) AS ids,
       collect([property IN $text | n[property]]) AS texts,
       collect(weight) AS weights,
       collect(dimensions) AS dimensions,
       collect(probe) AS probes
