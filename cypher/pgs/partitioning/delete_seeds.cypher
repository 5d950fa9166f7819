// Remove the label that marks seeds.
// params: label: str
// returns: removed: int
// mode: write
// language: 5, 25
MATCH (p:$($label)) REMOVE p:$($label)
RETURN count(*) AS removed
