package e2e

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"tabhub/cmd/tabhub/e2e/rig"
	"tabhub/cmd/tabhub/internal/home"
	"tabhub/cmd/tabhub/internal/porttest"
	"tabhub/hub/cluster"
	"tabhub/storage/jetstream/natstest"
)

// nodesVar, if it is set, makes each place a cluster of three nodes: what a test starts is the
// one that its clients reach, its tabs come to a second one, and a third has the users.
const nodesVar = "TABHUB_E2E_NODES"

// ofOneMachine are the tests of what clusters do not have, and what that is.
var ofOneMachine = map[string]string{
	"TestReadOnlyDataDir": "the files of a data directory, which has none of a cluster's users",
	"TestAutostart":       "a hub that the operating system starts, with its configured flags and without this environment",

	"TestCommandsBesideStandalone":  "a hub in its client's process, which has its user there",
	"TestBrowserOfAHubBehindAProxy": "the browsers that a process starts: each node would start one",
}

// The names of the nodes. Of these, the last is where any user of these tests is placed.
const (
	clientsNode = "clients"
	tabsNode    = "tabs"
	ownerNode   = "owner20"
)

// nodes are those of a place beside the one that a test starts.
type nodes struct {
	place  *place
	nats   *natstest.Cluster
	tabs   string // where tabs come
	owner  string // where no client or tab connects
	flags  []string
	revive sync.WaitGroup // of the owner, after it was killed
	kills  sync.Mutex     // held by kill

	mu    sync.Mutex
	other map[string]*rig.Process // by name; nil before the first start
}

// get returns the process of a node, nil if there is none.
func (n *nodes) get(name string) *rig.Process {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.other[name]
}

// set sets the process of a node.
func (n *nodes) set(name string, node *rig.Process) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.other == nil {
		n.other = map[string]*rig.Process{}
	}
	n.other[name] = node
}

// join makes the place a node of a cluster of three.
func (p *place) join() {
	p.t.Helper()
	for name, why := range ofOneMachine {
		if p.t.Name() == name || strings.HasPrefix(p.t.Name(), name+"/") {
			p.t.Skip(why)
		}
	}
	secret := filepath.Join(p.t.TempDir(), "cluster")
	if err := os.WriteFile(secret, []byte(strings.Repeat("a secret of the cluster ", 2)), 0o600); err != nil {
		p.t.Fatal(err)
	}
	p.nodes = &nodes{place: p, nats: natstest.Start(p.t, 1), tabs: porttest.Free(p.t), owner: porttest.Free(p.t)}
	p.env = append(p.env, "TABHUB_CLUSTER="+strings.Join(p.nodes.nats.URLs(), ","), "TABHUB_CLUSTER_SECRET="+secret,
		"TABHUB_NODE_NAME="+clientsNode, "TABHUB_NODE_URL=https://"+porttest.Free(p.t))
}

// startFor starts the other nodes with the flags of the node that clients reach, which is
// started with args.
func (n *nodes) startFor(args []string) {
	p := n.place
	p.t.Helper()
	var flags []string
	for i := 1; i < len(args); i++ {
		switch args[i] {
		case "--listen":
			i++
		case "--standalone":
		default:
			flags = append(flags, args[i])
		}
	}
	started := n.get(ownerNode) != nil
	if started && (args[0] == "stdio" || slices.Equal(flags, n.flags)) {
		return
	}
	n.revive.Wait()
	if !started {
		p.t.Cleanup(n.end)
	}
	n.stop()
	n.flags = flags
	n.set(tabsNode, n.run(p, tabsNode, n.tabs))
	n.set(ownerNode, n.run(p, ownerNode, n.owner))
	for _, name := range []string{tabsNode, ownerNode} {
		n.get(name).Stderr.Await(p.t, "listening on ")
	}
}

// run starts one of the nodes for a place, and does not wait for it.
func (n *nodes) run(p *place, name, listen string) *rig.Process {
	p.t.Helper()
	cmd := p.commandAt(n.dir(name), append([]string{"serve", "--listen", listen}, n.flags...)...)
	cmd.Env = slices.DeleteFunc(slices.Clone(cmd.Env), func(v string) bool {
		return strings.HasPrefix(v, "TABHUB_NODE_") || strings.HasPrefix(v, "TABHUB_IDLE_EXIT=")
	})
	cmd.Env = append(cmd.Env, "TABHUB_NODE_NAME="+name, "TABHUB_NODE_URL=https://"+porttest.Free(p.t))
	return rig.Start(p.t, cmd)
}

// othersLog is what the nodes have logged that clients do not reach.
func (p *place) othersLog() (log string) {
	if p.nodes != nil {
		for _, name := range []string{tabsNode, ownerNode} {
			if node := p.nodes.get(name); node != nil {
				log += node.Stderr.String()
			}
		}
	}
	return log
}

// dir is the data directory of a node.
func (n *nodes) dir(name string) home.Dir {
	return home.Dir(filepath.Join(filepath.Dir(string(n.place.dir)), name))
}

// meet waits until each of the nodes knows of the others: until then one may take a user that is
// another's to have.
func (n *nodes) meet() {
	n.place.t.Helper()
	for _, dir := range []home.Dir{n.place.dir, n.dir(tabsNode), n.dir(ownerNode)} {
		for _, name := range []string{clientsNode, tabsNode, ownerNode} {
			awaitReady(n.place, dir, name)
		}
	}
}

// awaitReady waits until the node at a data directory knows that another one takes users.
func awaitReady(p *place, dir home.Dir, name string) {
	p.t.Helper()
	p.until("node "+name+" is ready", func() bool {
		stdout, _, _ := runCommand(p.t, p.commandAt(dir, "cluster", "status", "--json"))
		var report cluster.Report
		return json.Unmarshal([]byte(stdout), &report) == nil && slices.ContainsFunc(report.Nodes, func(m cluster.Member) bool {
			return m.Name == name && m.State == cluster.Ready
		})
	})
}

// stop ends the nodes, the one with the users last.
func (n *nodes) stop() {
	n.place.t.Helper()
	for _, name := range []string{tabsNode, ownerNode} {
		if node := n.get(name); node != nil {
			node.Stop()
		}
	}
}

// end ends the nodes after a test in which the owner must have had all users.
func (n *nodes) end() {
	n.place.t.Helper()
	n.revive.Wait()
	n.checkOwner()
	n.stop()
}

// checkOwner fails the test if any user's hub is not where it should be.
func (n *nodes) checkOwner() {
	n.place.t.Helper()
	for user, node := range n.writers(n.place.t) {
		if name, _, _ := strings.Cut(node, "/"); name != ownerNode {
			n.place.t.Errorf("the hub of %s is on node %s, want %s", user, name, ownerNode)
		}
	}
}

// writers returns the node that has written the last message of each user's journal.
func (n *nodes) writers(t testing.TB) map[string]string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), timeout) // also while the test ends
	defer cancel()
	nc, err := nats.Connect(n.nats.URL(0))
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	stream, err := js.Stream(ctx, "TABHUB_USERS")
	if err != nil {
		t.Fatal(err)
	}
	info, err := stream.Info(ctx, jetstream.WithSubjectFilter("tabhub.user.*"))
	if err != nil {
		t.Fatal(err)
	}
	writers := map[string]string{}
	for subject := range info.State.Subjects {
		msg, err := stream.GetLastMsgForSubject(ctx, subject)
		if err != nil {
			t.Fatal(err)
		}
		writers[msg.Header.Get("Tabhub-User")] = msg.Header.Get("Tabhub-Node")
	}
	return writers
}

// kill ends the node that has the users as kill -9 does. It comes back, and gets its users again.
func (n *nodes) kill() {
	n.kills.Lock()
	defer n.kills.Unlock()
	n.revive.Wait()
	n.checkOwner()
	n.get(ownerNode).Cmd.Process.Kill()
	n.startAgain()
}

// startAgain waits for the end of the node that has the users, starts it again, and gives it the
// users back, also from nodes that have taken them meanwhile. It does not wait for the move.
func (n *nodes) startAgain() {
	p := *n.place
	p.t = apart{p.t}
	n.revive.Go(func() {
		n.get(ownerNode).AwaitEnd()
		n.set(ownerNode, n.run(&p, ownerNode, n.owner))
		n.takeBack(&p)
	})
}

func (n *nodes) takeBack(p *place) {
	n.get(ownerNode).Stderr.Await(p.t, "listening on ")
	awaitReady(p, n.dir(tabsNode), ownerNode)
	p.succeedAt(n.dir(tabsNode), "tabs") // has the user taken, if nobody has yet
	for _, node := range n.writers(p.t) {
		name, _, _ := strings.Cut(node, "/")
		if dir := map[string]home.Dir{tabsNode: n.dir(tabsNode), clientsNode: p.dir}[name]; dir != "" {
			p.succeedAt(dir, "cluster", "drain", "--wait", "0s")
			p.succeedAt(dir, "tabs") // has the user taken where users are placed
			p.succeedAt(dir, "cluster", "drain", "--undo")
		}
	}
}

// apart is a test as a goroutine of it has it: what would end the test ends the goroutine.
type apart struct{ testing.TB }

func (t apart) FailNow() {
	t.Helper()
	t.Fail()
	runtime.Goexit()
}

func (t apart) Fatal(args ...any) {
	t.Helper()
	t.Error(args...)
	runtime.Goexit()
}

func (t apart) Fatalf(format string, args ...any) {
	t.Helper()
	t.Errorf(format, args...)
	runtime.Goexit()
}

// succeedAt runs a command that must succeed at another data directory.
func (p *place) succeedAt(dir home.Dir, args ...string) {
	p.t.Helper()
	cmd := p.commandAt(dir, args...)
	began := time.Now()
	if _, stderr, exit := runCommand(p.t, cmd); exit != 0 {
		p.t.Errorf("%v, which took %v: %s", args, time.Since(began), stderr)
	}
}
