// Internal ids of a view's passages. The ids hold within one job.
// params: labels: list[str]
// returns: ids: list[int]
// mode: read
MATCH (n:$any($labels))
RETURN collect(id(n)) AS ids
