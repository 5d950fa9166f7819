// Create the label that marks seeds, before a change token is read: a new name costs a transaction
// of its own.
// params: label: str
// mode: write
CALL db.createLabel($label)
