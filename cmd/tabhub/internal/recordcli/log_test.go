package recordcli

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"tabhub/cmd/tabhub/internal/command"
	"tabhub/cmd/tabhub/internal/home"
	"tabhub/hub/trust/record"
	"tabhub/spec"
)

// recordCall records a call with arguments in the data directory, and returns its line.
func recordCall(t *testing.T, dir home.Dir, args string) record.Line {
	t.Helper()
	at := record.Dir(dir.Records(), spec.LocalUser)
	log := record.Open(at, record.Options{User: spec.LocalUser, Payloads: true})
	log.Append(record.Entry{Time: time.Now(), Event: record.Call, Call: "C1", Tool: "buy", Outcome: "ok", Args: json.RawMessage(args)})
	log.Close()
	lines, err := record.Read(t.Context(), at, record.Query{Event: record.Call})
	if err != nil || len(lines) != 1 {
		t.Fatal(lines, err)
	}
	return lines[0]
}

// The record of a node is not in the data directory. What an earlier hub has left there is of
// other calls, which have the same numbers.
func TestPayloadsOfANode(t *testing.T) {
	dir := home.Dir(filepath.Join(t.TempDir(), "data"))
	if err := dir.Make(); err != nil {
		t.Fatal(err)
	}
	lock, err := dir.TryLock(home.HubLock)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Unlock()
	ln, err := dir.Listen(slog.New(slog.DiscardHandler))
	if err == nil {
		err = dir.WriteHub(home.Hub{PID: os.Getpid(), Addr: "127.0.0.1:1", Socket: dir.Socket(), Node: true})
	}
	if err != nil {
		t.Fatal(err)
	}
	node := http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/api/log/payloads" || r.FormValue("call") != "C2" {
			t.Errorf("the node is asked for %s", r.URL)
		}
		_ = json.NewEncoder(w).Encode([]record.Payload{{N: 2, Args: json.RawMessage(`"of the node"`)}})
	})}
	go node.Serve(ln)
	defer node.Close()
	line := recordCall(t, dir, `"of an earlier hub"`)
	line.Call = "C2"
	a := &command.App{Env: func(string) string { return "" }, DataDir: string(dir)}
	l := logSource{App: a}
	if found := l.payload(t.Context(), &line); string(found.Args) != `"of the node"` {
		t.Errorf("line %d: %s", line.N, found.Args)
	}
}
