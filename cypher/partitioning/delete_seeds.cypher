// Take the mark of seeds away again.
// params: label
// returns: removed
// mode: write
MATCH (p:$($label)) REMOVE p:$($label)
RETURN count(*) AS removed
