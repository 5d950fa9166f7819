// Properties in a sample of a type's relationships; the row without a property counts them. The
// sample is spread over the first `scan` relationships, and prose and examples are judged, as for
// nodes. A list of strings counts as a text of its items.
// params: type: str, scan: int, threshold: int, limit: int
// returns: property: str?, relationships: int, types: list[str], distinct_values: int, texts: int,
//   mean_length: float?, prose: int, least: number?, greatest: number?, examples: list[str]
// mode: read
// sees: everything
MATCH ()-[r:$($type)]->()
WITH r LIMIT $scan
WHERE (id(r) % 1000003) * 48271 % 65537 < $threshold
UNWIND [null] + keys(r) AS property
WITH property, r[property] AS value
WITH property, value,
     CASE WHEN value IS :: STRING NOT NULL THEN value
          WHEN value IS :: LIST<STRING NOT NULL> NOT NULL AND size(value) > 0
          THEN reduce(joined = head(value), item IN tail(value) | joined + '; ' + item) END AS text,
     CASE WHEN value IS :: INTEGER NOT NULL | FLOAT NOT NULL THEN value END AS number
RETURN property, count(*) AS relationships, collect(DISTINCT valueType(value)) AS types,
       count(DISTINCT coalesce(left(text, 200), number)) AS distinct_values,
       count(text) AS texts, avg(size(text)) AS mean_length,
       count(CASE WHEN left(text, 300) =~ '(?s)(?!\\s*[\\[{]\\s*["{\\[])\\s*(\\S+\\s+){3}\\S.*|.*[\\u0e00-\\u0eff\\u3040-\\u30ff\\u3400-\\u9fff\\uac00-\\ud7af]{6}.*' THEN 1 END) AS prose,
       min(number) AS least, max(number) AS greatest,
       collect(DISTINCT left(text, 200))[..60] AS examples
ORDER BY property IS NOT NULL, relationships DESC, property
LIMIT $limit
