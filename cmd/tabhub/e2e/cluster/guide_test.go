//go:build nightly && unix

package cluster

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The first cluster of the guide comes up when its lines are pasted as one block. The programs are
// built beforehand, and the ports are free ones.
func TestFirstClusterOfTheGuide(t *testing.T) {
	guide, err := os.ReadFile("../../../../spec/docs/CLUSTER.md")
	if err != nil {
		t.Fatal(err)
	}
	_, block, _ := strings.Cut(string(guide), "```sh\n")
	block, _, _ = strings.Cut(block, "```")
	dir := t.TempDir()
	version, err := exec.Command("go", "list", "-m", "-f", "{{.Version}}", "github.com/nats-io/nats-server/v2").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, built := range []string{"go build ./cmd/tabhub\n", "GOBIN=$PWD go install github.com/nats-io/nats-server/v2@" + string(version)} {
		if !strings.Contains(block, built) {
			t.Fatalf("the guide does not say %q", built)
		}
		block = strings.Replace(block, built, "", 1)
	}
	if out, err := exec.Command("go", "build", "-o", dir, "github.com/nats-io/nats-server/v2").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if err := os.Symlink(program, filepath.Join(dir, "tabhub")); err != nil {
		t.Fatal(err)
	}
	free := map[string]string{}
	block = regexp.MustCompile(`(127\.0\.0\.1:|port )(\d{3})(\$i|\d\b)`).ReplaceAllStringFunc(block, func(at string) string {
		begin, tens := strings.TrimRight(at, "$i0123456789"), at[strings.LastIndexAny(at, ": ")+1:][:3]
		if free[tens] == "" {
			free[tens] = freeTens(t)
		}
		return begin + free[tens] + at[len(begin)+3:]
	})

	ctx, cancel := context.WithTimeout(t.Context(), 3*timeout)
	defer cancel()
	sh := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-c", block)
	sh.Dir, sh.SysProcAttr = dir, &syscall.SysProcAttr{Setpgid: true}
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "TABHUB_") {
			sh.Env = append(sh.Env, v)
		}
	}
	said, err := os.Create(filepath.Join(dir, "said"))
	if err != nil {
		t.Fatal(err)
	}
	defer said.Close()
	sh.Stdout, sh.Stderr = said, said
	sh.WaitDelay = time.Second
	err = sh.Run()
	syscall.Kill(-sh.Process.Pid, syscall.SIGKILL) // what goes on in the background
	out, _ := os.ReadFile(said.Name())
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, block, out)
	}
	for _, want := range []string{`node0 \(this one\) +ready`, `node1 +ready`, `node2 +ready`, `The hub of ann is on node[012]\n`} {
		if !regexp.MustCompile(want).Match(out) {
			t.Errorf("there is no %s in\n%s", want, out)
		}
	}
}

// freeTens returns prefixes of ports whose ports ending in 0, 1 and 2 are free.
func freeTens(t *testing.T) string {
	for range 100 {
		tens, free := fmt.Sprint(1100+rand.IntN(1900)), true
		for i := range 3 {
			ln, err := net.Listen("tcp", fmt.Sprint("127.0.0.1:", tens, i))
			if err != nil {
				free = false
				continue
			}
			ln.Close()
		}
		if free {
			return tens
		}
	}
	t.Fatal("there are no free ports")
	return ""
}
