// Replace the password of the connected user.
// params: old: str, new: str
// returns:
// mode: schema
// language: 5, 25
ALTER CURRENT USER SET PASSWORD FROM $old TO $new
