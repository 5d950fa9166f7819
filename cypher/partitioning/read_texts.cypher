// Texts of some nodes, as parallel lists.
// params: ids: list[int], text: list[str]
// returns: ids: list[int], texts: list[list[any]]
// mode: read
MATCH (n) WHERE id(n) IN $ids
RETURN collect(id(n)) AS ids, collect([property IN $text | n[property]]) AS texts
