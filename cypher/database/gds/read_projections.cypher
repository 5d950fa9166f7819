// Names of this package's projections of at least that age, by the server's clock.
// params: prefix: str, pattern: str, older_than_s: number
// returns: names: list[str]
// mode: read
CALL gds.graph.list() YIELD graphName, creationTime
WITH graphName, creationTime
WHERE graphName STARTS WITH $prefix AND graphName =~ $pattern
  AND creationTime <= datetime() - duration({seconds: $older_than_s})
RETURN collect(graphName) AS names
