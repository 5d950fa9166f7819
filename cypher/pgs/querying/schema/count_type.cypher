// Number of relationships of a type, from the count store.
// returns: count: int
// mode: read
// sees: everything
MATCH ()-[r:`{type}`]->() RETURN count(r) AS count
