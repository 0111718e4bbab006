package e2e

import (
	"encoding/json"
	"io"
	"os"
	"strings"
	"testing"

	"tabhub/cmd/tabhub/e2e/rig"
)

// officialClients are the SDK, transport and revision of the clients in tests that kill the hub.
var officialClients = []string{"v1 http 2025-06-18", "v2 stdio 2026-07-28"}

// The hub is killed under the clients that the SDKs' authors ship. What they have begun goes on:
// the session is the same, and they learn that what they follow may have changed.
func TestHubKilledUnderOfficialClients(t *testing.T) {
	t.Parallel()
	for _, args := range officialClients {
		t.Run(args, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.serve()
			cmd := node(t, append([]string{"away.mjs"}, strings.Fields(args)...)...)
			bridge, err := json.Marshal(p.command("stdio", "--listen", p.listen).Args)
			if err != nil {
				t.Fatal(err)
			}
			cmd.Env = append(p.command().Env, "TABHUB_URL="+p.url(), "TABHUB_TOKEN="+p.token(), "TABHUB_COMMAND="+string(bridge), "PATH="+os.Getenv("PATH"))
			stdin, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			out := rig.NewOutput()
			cmd.Stdout = out
			client := rig.Start(t, cmd)
			t.Cleanup(func() {
				_ = cmd.Process.Kill()
				client.AwaitEnd()
			})
			out.Await(t, "ready\n")
			p.kill()
			if strings.Contains(args, "http") { // a bridge starts one by itself
				p.serveAgain()
			}
			if _, err := io.WriteString(stdin, "back\n"); err != nil {
				t.Error(err)
			}
			out.Await(t, "done\n")
		})
	}
}
