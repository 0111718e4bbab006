package cluster

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"tabhub/storage/jetstream/natstest"
)

// envNode, if set, makes the test's program a node: where NATS is.
const envNode = "CLUSTER_TEST_NODE"

func TestMain(m *testing.M) {
	if url := os.Getenv(envNode); url != "" {
		if err := beNode(url); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	_ = flag.Set("test.parallel", "6") // what they do most of is wait; the command line says otherwise
	os.Exit(m.Run())
}

// beNode is a node that prints each millisecond whether it holds its lease, until its reader is
// gone.
func beNode(url string) error {
	nc, err := nats.Connect(url)
	if err != nil {
		return err
	}
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	l := &listener{Listener: tcp}
	n, err := Join(context.Background(), Options{
		Conn: nc, Name: "p", URL: l.url(), Secret: secret, Replicas: 1, timing: short, Serve: l.serve,
	})
	if err != nil {
		return err
	}
	n.Ready()
	for range time.Tick(time.Millisecond) {
		at, id := bootClock(), n.ID()
		if n.Lease().Held() && n.ID() == id {
			if _, err := fmt.Printf("%d %s\n", at, id); err != nil {
				return nil
			}
		}
	}
	return nil
}

// A process that was stopped and wakes must know that its lease is over, whatever is in its sockets:
// another node may act for its users by then.
func TestStoppedProcess(t *testing.T) {
	t.Parallel()
	c := natstest.Start(t, 1)
	q := ready(t, c.Conn(t), "q")
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), envNode+"="+c.URL(0))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	type held struct {
		at time.Duration
		id string
	}
	says := make(chan held, 1<<16)
	go func() {
		defer close(says)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			at, id, _ := strings.Cut(lines.Text(), " ")
			ns, err := time.ParseDuration(at + "ns")
			if err != nil {
				t.Errorf("%q: %v", lines.Text(), err)
				return
			}
			says <- held{ns, id}
		}
	}()
	first := <-says
	for id, round := first.id, 0; round < 5; round++ {
		until(t, q, "q knows of it", func() bool { return q.Alive(id) })
		var last time.Duration
		for range 1 + rand.IntN(300) { // at any moment between two renewals
			last = (<-says).at
		}
		if err := cmd.Process.Signal(syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		until(t, q, "q knows that it has ended", func() bool { return !q.Alive(id) })
		ended := bootClock()
		if err := cmd.Process.Signal(syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
		for h := range says {
			if h.id != id {
				t.Logf("held %v before its end was known, and again as %s %v after", ended-last, h.id, h.at-ended)
				id = h.id
				break
			}
			last = h.at
			if h.at >= ended {
				t.Fatalf("%s is held %v after its end", id, h.at-ended)
			}
		}
	}
}
