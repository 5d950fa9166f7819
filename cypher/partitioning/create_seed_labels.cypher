// Make the label known that marks seeds, before anybody looks at what was committed last: a name
// that is new costs a transaction of its own.
// params: label
// returns:
// mode: write
CALL db.createLabel($label)
