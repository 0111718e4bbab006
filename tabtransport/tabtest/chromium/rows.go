package chromium

// nightly is set by the build tag.
var nightly bool

// Rows returns the first n rows of a test's table, and with the build tag nightly all of them: each
// costs seconds of a processor, and most of what one finds the others find as well.
func Rows[T any](n int, all ...T) []T {
	if nightly {
		return all
	}
	return all[:n]
}
