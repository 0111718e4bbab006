package e2e

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tabhub/cmd/tabhub/internal/terminal/ptytest"
	"tabhub/spec"
)

// payPack gives the bank a tool that it does not have.
const payPack = `{"tabhubPack":1,"name":"pay","match":["https://bank.example/*"],"tools":[
	{"name":"pay","description":"Pays","inputSchema":{"type":"object","properties":{"sum":{"type":"integer"}}},
	 "steps":[{"click":{"target":{"role":"button","name":"Pay"}}}]}]}`

// onTerminal runs tabhub on a terminal where somebody types once they are asked, and returns all that it says.
func (p *place) onTerminal(types string, args ...string) string {
	p.t.Helper()
	screen, tty := ptytest.Open(p.t, 100)
	cmd := p.command(args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = tty, tty, tty
	if err := cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	tty.Close()
	var said bytes.Buffer
	for b := make([]byte, 4096); ; {
		n, err := screen.Read(b)
		said.Write(b[:n])
		if types != "" && strings.Contains(said.String(), "y/N") {
			_, _ = screen.WriteString(types)
			types = ""
		}
		if err != nil { // nobody has the terminal any more
			break
		}
	}
	if err := cmd.Wait(); err != nil {
		p.t.Errorf("%q: %v", args, err)
	}
	return said.String()
}

// A pack is the owner's word to all of their browsers: none acts before it was accepted, none after it was
// removed, and a hub that is killed has forgotten nothing.
func TestPackOfTheOwner(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.serve()
	c := p.stdio()
	_, copied := p.writeExtension()
	x := p.companion(copied, "b", bank+"/", transferTool, spec.CapPacks)
	hears := func(x *companion, n int) string {
		t.Helper()
		for {
			select {
			case packs := <-x.packs:
				if len(packs) == n && n > 0 {
					return packs[0].Hash
				} else if len(packs) == n {
					return ""
				}
			case <-p.within().Done():
				t.Fatalf("the browser does not hear of %d packs", n)
			}
		}
	}
	offer := func(x *companion, hash string) {
		x.peer.Send(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":"more","tabId":1,"method":"browser/updateTools","params":{"tabUrl":"%[1]s/","tools":[{"name":"pay","frameId":0,"origin":%[1]q,"pack":{"name":"pay","hash":%q}}]}}`, bank, hash))
	}
	file := filepath.Join(t.TempDir(), "pay.json")
	if err := os.WriteFile(file, []byte(payPack), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, stderr, exit := p.run("pack", "add", file); exit != 0 || !strings.Contains(stderr, "waits for you") {
		t.Fatalf("added: %d %s", exit, stderr)
	}
	select {
	case packs := <-x.packs:
		if len(packs) > 0 {
			t.Errorf("the browser hears of %+v before its owner has accepted it", packs)
		}
	default:
	}
	if said := p.onTerminal("y\n", "pack", "add", file); !strings.Contains(said, "pay is in use") {
		t.Fatalf("accepted: %s", said)
	}

	hash := hears(x, 1)
	offer(x, hash)
	const name = "pack_pay_bank_example__pay"
	has := func(l tools) bool { return strings.Contains(strings.Join(l.names(), " "), name) }
	c.awaitTools("the pack's tool is listed", has)
	a := c.call(name, `{"sum":3}`)
	for _, want := range []string{`"sum":3`, `clicked button`, `"pack":"pay"`} {
		if !strings.Contains(strings.ReplaceAll(string(a.result), `\`, ""), want) {
			t.Errorf("called: %s, want %s", a.result, want)
		}
	}

	c.close() // it would start a hub by itself
	p.kill()
	p.serveAgain()
	c = p.stdio()
	x = p.companion(copied, "b", bank+"/", transferTool, spec.CapPacks)
	if again := hears(x, 1); again != hash {
		t.Errorf("after a restart the pack is %s, not %s", again, hash)
	}
	offer(x, hash)
	c.awaitTools("the pack's tool is listed again", has)
	p.succeed("pack", "remove", "pay")
	hears(x, 0)
	c.awaitTools("the pack's tool is gone", func(l tools) bool { return !has(l) })
	if n := x.calls.Load(); n != 0 {
		t.Errorf("%d calls were made again", n)
	}
}
