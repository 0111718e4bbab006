package home

// CheckPrivate leaves it to the access control lists of the user's profile.
func (d Dir) CheckPrivate() error { return nil }
