// Delete every relationship of the package in batches.
// params: types: list[str]
// mode: batch
// sees: everything
MATCH ()-[r:$any($types)]->()
CALL (r) { DELETE r } IN TRANSACTIONS OF 20000 ROWS
