// Texts of some nodes, as parallel lists.
// params: ids, text
// returns: ids, texts
// mode: read
MATCH (n) WHERE id(n) IN $ids
RETURN collect(id(n)) AS ids, collect([property IN $text | n[property]]) AS texts
