package e2e

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"syscall"
	"testing"
)

// otherUser is a user other than the one whose hubs are tested. The programs of that user
// are this one, which plays a part instead of running tests; they have none of its files
// open.
const otherUser = 65534

// partOf prepares a part: it reads in from stdin and writes what comes of it to stdout.
func partOf(t testing.TB, part string) *exec.Cmd {
	t.Helper()
	if parts[part] == nil {
		t.Fatalf("there is no part %q", part)
	}
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe")
	cmd.Dir = "/"
	cmd.Env = []string{partVar + "=" + part, "GORACE=atexit_sleep_ms=0"}
	return cmd
}

// asOther prepares a part as the other user.
func asOther(t testing.TB, part string) *exec.Cmd {
	t.Helper()
	needsOther(t)
	cmd := partOf(t, part)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: otherUser, Gid: otherUser}}
	return cmd
}

func needsOther(t testing.TB) {
	t.Helper()
	if os.Geteuid() != 0 {
		const reason = "needs root, to run a program as another user"
		if os.Getenv("CI") == "true" {
			t.Fatal(reason)
		}
		t.Skip(reason)
	}
}

// play runs a part to its end, and decodes what comes of it.
func play[Out any](t testing.TB, cmd *exec.Cmd, in any) (out Out) {
	t.Helper()
	text, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	cmd.Stdin, cmd.Stderr = bytes.NewReader(text), &stderr
	said, err := cmd.Output()
	if err == nil {
		err = json.Unmarshal(said, &out)
	}
	if err != nil {
		t.Fatalf("a program of user %d: %v %s%s", otherUser, err, said, stderr.String())
	}
	return out
}
