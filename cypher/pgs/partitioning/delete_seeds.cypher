// Remove the label that marks seeds.
// params: label: str
// returns: removed: int
// mode: write
MATCH (p:$($label)) REMOVE p:$($label)
RETURN count(*) AS removed
