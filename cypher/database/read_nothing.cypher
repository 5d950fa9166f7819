// Reads nothing: its transaction only yields a bookmark.
// params:
// returns: one: int
// mode: read
// language: 5, 25
RETURN 1 AS one
