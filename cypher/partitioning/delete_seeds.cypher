// Remove the label that marks seeds.
// params: label
// returns: removed
// mode: write
MATCH (p:$($label)) REMOVE p:$($label)
RETURN count(*) AS removed
