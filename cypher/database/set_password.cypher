// Replace the password of the connected user.
// params: old: str, new: str
// mode: schema
ALTER CURRENT USER SET PASSWORD FROM $old TO $new
