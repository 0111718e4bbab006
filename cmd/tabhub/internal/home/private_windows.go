package home

// checkPrivate leaves it to the access control lists of the user's profile.
func (d Dir) checkPrivate() error { return nil }
