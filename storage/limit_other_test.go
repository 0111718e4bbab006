//go:build !unix

package storage_test

import "testing"

func limitFileSize(t *testing.T, _ uint64) (restore func()) {
	t.Skip("this system has no limit on the size of a process's files")
	return nil
}
