//go:build unix && !linux

package delivery

func peekTCP(int) (ended, reset, ok bool) { return false, false, false }
