// Number of matches. The pattern is a place for the patterns and filters of a user's statement,
// whose tokens are put there before all of it passes the gate.
// returns: matches: int
// mode: read
// sees: everything
MATCH (counted:Counted) RETURN count(*) AS matches
