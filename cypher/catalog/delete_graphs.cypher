// Delete a stored graph once its generations and sessions are gone.
// params: name
// returns: deleted
// mode: write
MATCH (g:PgsGraph {name: $name})
DETACH DELETE g
RETURN count(*) AS deleted
