// Properties in a sample of a label's nodes; the row without a property counts the nodes. The
// empty label means nodes without labels. A hash of their ids spreads the sample over the first
// `scan` nodes: threshold / 65537 of them, always the same. Prose has four words or more and is
// not JSON, or is a run of letters of a script without spaces. `examples` are the beginnings of some
// distinct strings.
// params: label: str, scan: int, threshold: int, limit: int
// returns: property: str?, nodes: int, types: list[str], distinct_values: int, texts: int,
//   mean_length: float?, longest: int?, prose: int, least: number?, greatest: number?,
//   sizes: list[int], examples: list[str]
// mode: read
// sees: everything
CALL () {
  WITH $label AS label WHERE label <> ''
  MATCH (n:$(label)) RETURN n LIMIT $scan
  UNION ALL
  WITH $label AS label WHERE label = ''
  MATCH (n) WITH n LIMIT $scan
  WITH n WHERE n:!% RETURN n
}
WITH n WHERE (id(n) % 1000003) * 48271 % 65537 < $threshold
UNWIND [null] + keys(n) AS property
WITH property, n[property] AS value
WITH property, value,
     CASE WHEN value IS :: STRING NOT NULL THEN value END AS text,
     CASE WHEN value IS :: INTEGER NOT NULL | FLOAT NOT NULL THEN value END AS number,
     CASE WHEN value IS :: LIST<FLOAT NOT NULL> NOT NULL | LIST<INTEGER NOT NULL> NOT NULL THEN size(value) END AS size
RETURN property, count(*) AS nodes, collect(DISTINCT valueType(value)) AS types,
       count(DISTINCT coalesce(left(text, 200), number)) AS distinct_values,
       count(text) AS texts, avg(size(text)) AS mean_length, max(size(text)) AS longest,
       count(CASE WHEN left(text, 300) =~ '(?s)(?!\\s*[\\[{]\\s*["{\\[])\\s*(\\S+\\s+){3}\\S.*|.*[\\u0e00-\\u0eff\\u3040-\\u30ff\\u3400-\\u9fff\\uac00-\\ud7af]{6}.*' THEN 1 END) AS prose,
       min(number) AS least, max(number) AS greatest, collect(size) AS sizes,
       collect(DISTINCT left(text, 200))[..60] AS examples
ORDER BY property IS NOT NULL, nodes DESC, property
LIMIT $limit
